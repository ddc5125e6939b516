"""Recordings on disk, part by part. `cuadata.recording` is its face."""

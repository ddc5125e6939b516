"""Datasets of generated pages: planned, rendered, measured, asked about."""

"""Readers of what people already have: one file a source, found by name."""

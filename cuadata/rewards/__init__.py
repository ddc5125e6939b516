"""Judges of a model's text answer, each with its paper's formula. One file a subject."""

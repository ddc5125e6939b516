"""Trainers: one algorithm, one file, read top to bottom. Installed as cuadata.train."""

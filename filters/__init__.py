"""Gates: pure functions of recorded evidence, one subject a file. Installed as cuadata.filters."""

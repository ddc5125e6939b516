"""One attempt at one task. `cuadata.environment` is its face."""

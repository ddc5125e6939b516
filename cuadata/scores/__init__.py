"""What runs and logged answers are worth. `cuadata.scoring` is its face."""

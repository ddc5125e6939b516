"""From a trajectory to examples, chunks and transitions. `cuadata.split` is its face."""

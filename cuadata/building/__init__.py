"""The parts of a build: cut, join, divide, write. `cuadata.build` is its face."""

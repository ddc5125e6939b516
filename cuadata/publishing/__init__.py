"""What stands between a dataset on disk and one on a Hub. `cuadata.hub` is its face."""

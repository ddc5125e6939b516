"""A live page: found, opened, measured, acted on. `cuadata.browser` is its face."""

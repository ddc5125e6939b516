"""A person at a page: heard, turned into steps."""

"""How elements and relations are said, and what such words mean."""

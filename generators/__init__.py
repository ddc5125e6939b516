"""Page families: one Python file and its template each. Installed as cuadata.generators."""

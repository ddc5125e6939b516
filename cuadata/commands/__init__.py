"""The commands, one subject a file; `cuadata.cli` imports a file only when its command is called."""

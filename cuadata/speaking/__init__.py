"""What model families write, read as actions."""

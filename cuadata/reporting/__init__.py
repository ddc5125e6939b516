"""What commands show on stderr and stdout."""

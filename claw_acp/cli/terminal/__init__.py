"""What commands show on a terminal, and ask there."""

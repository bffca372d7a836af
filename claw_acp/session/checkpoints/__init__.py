"""Files as they were before each turn, and the way back to them."""

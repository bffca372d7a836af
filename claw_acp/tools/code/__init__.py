"""Tools that ask language servers about code, and change it by them."""

"""One whole conversation with each wire family, recorded once and replayed offline."""

"""One file per concept that can be extended: what an implementation must offer."""

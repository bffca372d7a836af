"""The Unix socket of a running `claw-acp serve`: editors' bridges and other programs attach here."""

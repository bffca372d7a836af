"""What the program talks to or serves on loopback: models, clouds, the gateway."""

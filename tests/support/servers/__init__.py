"""The servers on loopback: models, clouds, the gateway."""

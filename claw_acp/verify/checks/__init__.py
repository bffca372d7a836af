"""Active checks: one module for each area of the protocol, each with its table `CHECKS`."""

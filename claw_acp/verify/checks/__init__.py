"""Checks that provoke something: one module for each area of the protocol, each with its table `CHECKS`."""

"""Clients of ours over every transport, and the client side that they serve."""

"""The proxy by which confined commands reach the network: host by host, by rules."""

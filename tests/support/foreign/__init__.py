"""Foreign clients: the official SDKs, and what they need."""

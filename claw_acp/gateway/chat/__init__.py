"""Chat for plain web clients: one prompt by HTTP, or a conversation over a WebSocket."""

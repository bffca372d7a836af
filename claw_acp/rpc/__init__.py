"""JSON-RPC 2.0: framing, messages, the symmetric peer, and its transports."""

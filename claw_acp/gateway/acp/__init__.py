"""ACP over WebSocket and streamable HTTP."""

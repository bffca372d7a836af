"""ACP server for remote clients: one endpoint, `/acp`, over WebSocket and streamable HTTP."""

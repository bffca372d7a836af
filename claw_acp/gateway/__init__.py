"""The same ACP server for clients elsewhere: one endpoint, `/acp`, for WebSockets and for streamable HTTP."""

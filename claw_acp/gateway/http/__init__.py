"""An HTTP server with WebSockets, bounded everywhere. It knows no ACP."""

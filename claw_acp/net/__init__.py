"""HTTP and server-sent events; sole owner of httpx."""

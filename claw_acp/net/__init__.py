"""HTTP and streaming formats. The only package besides providers that uses httpx."""

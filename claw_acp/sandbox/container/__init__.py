"""Containers of Docker and Podman as sandboxes."""

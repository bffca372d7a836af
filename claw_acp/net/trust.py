"""The certificates by which TLS connections are judged."""

import ssl
from functools import cache
from pathlib import Path

import httpx


@cache
def trusted() -> ssl.SSLContext:
    """The usual authorities, or those that SSL_CERT_FILE or SSL_CERT_DIR name; one context serves all connections.

    The first call reads a quarter of a megabyte of certificates, some 50 ms of work: make it in a worker thread.
    """
    return httpx.create_ssl_context()


def trusted_besides(file: Path) -> ssl.SSLContext:
    """The same, and the authorities of a PEM file.

    Raises:
        OSError: It cannot be read, or holds no certificates.
    """
    context = httpx.create_ssl_context()
    context.load_verify_locations(cafile=file)
    return context

"""TLS trust: the certificate authorities that connections are verified against."""

import ssl
from functools import cache
from pathlib import Path

import httpx


@cache
def trusted() -> ssl.SSLContext:
    """An SSL context with the usual authorities, or those of SSL_CERT_FILE or SSL_CERT_DIR; shared by all connections.

    The first call reads a quarter of a megabyte of certificates, some 50 ms of work: make it in a worker thread.
    """
    return httpx.create_ssl_context()


def trusted_besides(file: Path) -> ssl.SSLContext:
    """A context with the usual authorities and those of a PEM file.

    Raises:
        OSError: It cannot be read, or holds no certificates.
    """
    context = httpx.create_ssl_context()
    context.load_verify_locations(cafile=file)
    return context

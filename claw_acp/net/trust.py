"""The certificates by which TLS connections are judged."""

import ssl
from functools import cache

import httpx


@cache
def trusted() -> ssl.SSLContext:
    """The usual authorities, or those that SSL_CERT_FILE or SSL_CERT_DIR name; one context serves all connections.

    The first call reads a quarter of a megabyte of certificates, some 50 ms of work: make it in a worker thread.
    """
    return httpx.create_ssl_context()

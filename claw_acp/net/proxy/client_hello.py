"""The first message of a TLS client, read for the name of the server that it wants.

The proxy does not decrypt. But a content delivery network serves many hosts at one address, so a tunnel to a permitted
host must not carry the name of another one.
"""

from typing import Final

from claw_acp.core.value import Value

LIMIT: Final = 17 * 1024
"""Bytes in which the message must be; real ones have up to some 2,000."""

UNRECOGNIZED_NAME: Final = bytes((21, 3, 3, 0, 2, 2, 112))
"""The alert to a client whose name is refused, as a TLS record."""

_HANDSHAKE: Final = 22
_CLIENT_HELLO: Final = 1
_SERVER_NAME: Final = 0
_HOST_NAME: Final = 0
_ENCRYPTED_HELLO: Final = 0xFE0D
_LARGEST_RECORD: Final = 1 << 14
_RECORD_HEAD, _MESSAGE_HEAD = 5, 4


class BadHello(ValueError):
    """Bytes that begin as TLS does, but are no client's first message."""


class ClientHello(Value):
    """A client's first message.

    Attributes:
        server_name: The server that it wants, in lower case; empty if it names none.
        encrypted: Whether it holds another, encrypted name (ECH) which may be the one that counts.
    """

    server_name: str
    encrypted: bool


def is_tls(data: bytes) -> bool:
    """Return whether a stream begins as TLS does; `data` is not empty."""
    return data[0] == _HANDSHAKE


def read_hello(data: bytes) -> ClientHello | None:
    """The message at the beginning of a TLS stream; None if more bytes are needed.

    Raises:
        BadHello: There is none.
    """
    message = _message(data)
    if message is None:
        if len(data) >= LIMIT:
            raise BadHello("The first message of TLS is too long")
        return None
    try:
        return _parse(_Reader(message))
    except (IndexError, UnicodeDecodeError) as error:
        raise BadHello("The first message of TLS is broken") from error


def _message(data: bytes) -> bytes | None:
    """The first handshake message without its head, gathered from the records that it is cut into; None: incomplete."""
    message = bytearray()
    at = 0
    while len(data) - at >= _RECORD_HEAD:
        size = int.from_bytes(data[at + 3 : at + _RECORD_HEAD])
        if data[at] != _HANDSHAKE or data[at + 1] != 3 or not 0 < size <= _LARGEST_RECORD:
            raise BadHello("This is no TLS")
        message += data[at + _RECORD_HEAD : at + _RECORD_HEAD + size]
        at += _RECORD_HEAD + size
        if message and message[0] != _CLIENT_HELLO:
            raise BadHello("The first message of TLS is not that of a client")
        if len(message) >= _MESSAGE_HEAD:
            end = _MESSAGE_HEAD + int.from_bytes(message[1:_MESSAGE_HEAD])
            if len(message) >= end:
                return bytes(message[_MESSAGE_HEAD:end])
    return None


class _Reader:
    """Reads fields one after the other; IndexError where one is cut short."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        end = self._at + size
        if end > len(self._data):
            raise IndexError
        taken, self._at = self._data[self._at : end], end
        return taken

    def rest(self) -> bytes:
        """All bytes that were not taken."""
        return self.take(len(self._data) - self._at)

    def number(self, size: int) -> int:
        """The next number, of `size` bytes."""
        return int.from_bytes(self.take(size))

    def block(self, size: int) -> "_Reader":
        """The next block, whose length is a number of `size` bytes."""
        return _Reader(self.take(self.number(size)))


def _parse(hello: _Reader) -> ClientHello:
    hello.take(2 + 32)  # version, random
    hello.block(1)  # session
    hello.block(2)  # cipher suites
    hello.block(1)  # compression
    extensions = hello.block(2) if hello else _Reader(b"")
    if hello:
        raise BadHello("The first message of TLS goes on behind its end")
    found: dict[int, _Reader] = {}
    while extensions:
        kind = extensions.number(2)
        if kind in found:
            raise BadHello("The first message of TLS says the same thing twice")
        found[kind] = extensions.block(2)
    name = _server_name(found[_SERVER_NAME]) if _SERVER_NAME in found else ""
    return ClientHello(server_name=name, encrypted=_ENCRYPTED_HELLO in found)


def _server_name(extension: _Reader) -> str:
    names = extension.block(2)
    kind, name = names.number(1), names.block(2)
    if kind != _HOST_NAME or names or extension:
        raise BadHello("The first message of TLS does not name one server")
    return name.rest().decode("ascii").lower().removesuffix(".")

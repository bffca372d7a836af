"""The network as a confined command sees it: a proxy of ours, servers on loopback, and names that lead to them."""

import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
from anyio.abc import ByteStream, SocketStream
from anyio.streams.tls import TLSListener
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from claw_acp.net.proxy.destination import Destination
from claw_acp.net.proxy.entrance import Entrance
from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.network_proxy import NetworkProxy
from claw_acp.net.proxy.verdict import Decide, NetworkRecord, Verdict
from claw_acp.sandbox.network_stage import open_door

Serve = Callable[[ByteStream], Awaitable[None]]
NO_RULE = "No rule."


class Names:
    """A resolver: hosts and the ports of servers on loopback; each look-up of a list takes its next address."""

    def __init__(self, hosts: Mapping[str, int | list[str]]) -> None:
        self._hosts = hosts
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[tuple[str, int]]:
        """See `Resolve`."""
        self.asked.append(host)
        match self._hosts.get(host):
            case None:
                raise OSError("unknown")
            case int(there):
                return [("127.0.0.1", there)]
            case addresses:
                return [(addresses.pop(0), port)]


class Behind:
    """A command's view: the port of its proxy on loopback; and what it leaves."""

    def __init__(self, entrance: Entrance, port: int, names: Names, records: list[NetworkRecord]) -> None:
        self.entrance = entrance
        self.port = port
        self.names = names
        self.records = records

    @property
    def url(self) -> str:
        """The proxy's address."""
        return f"http://127.0.0.1:{self.port}"

    async def connect(self) -> SocketStream:
        """A connection to the proxy."""
        return await anyio.connect_tcp("127.0.0.1", self.port)

    async def tunnel(self, authority: str) -> SocketStream:
        """A tunnel that was accepted."""
        stream = await self.connect()
        await stream.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        assert (await head_of(stream)).startswith("HTTP/1.1 200 ")
        return stream

    async def asked(self, request: bytes | str) -> str:
        """All that comes back on a connection of its own."""
        async with await self.connect() as stream:
            await stream.send(request if isinstance(request, bytes) else request.encode())
            return (await all_of(stream)).decode()


def by_names(*allowed: str) -> Decide:
    """Decides by exact names (`host`, or `host:port`), private networks included."""

    async def decide(destination: Destination) -> Verdict:
        known = destination.named in allowed
        return Verdict(
            allowed=known, rule="test", remedy=destination.rule, private=known, reason="" if known else NO_RULE
        )

    return decide


@asynccontextmanager
async def behind(
    hosts: Mapping[str, int | list[str]], *, decide: Decide | None = None, limits: Limits | None = None
) -> AsyncGenerator[Behind]:
    """A proxy for one command. By default it may reach all `hosts`."""
    names, records = Names(hosts), list[NetworkRecord]()

    async def record(line: NetworkRecord) -> None:
        records.append(line)

    proxy = NetworkProxy(resolve=names, limits=limits or Limits())
    async with proxy.entrance(decide or by_names(*hosts), record=record) as entrance:
        yield Behind(entrance, open_door(str(entrance.socket)), names, records)


@asynccontextmanager
async def serving(serve: Serve, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[int]:
    """A server on loopback; yields its port."""

    async def one(stream: ByteStream) -> None:
        async with stream:
            try:
                await serve(stream)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as plain, anyio.create_task_group() as tasks:
        listener = TLSListener(plain, tls, standard_compatible=False) if tls else plain
        tasks.start_soon(listener.serve, one)
        yield plain.extra(anyio.abc.SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


async def head_of(stream: ByteStream) -> str:
    """The head of a message, read byte by byte."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += await stream.receive(1)
    return head.decode()


async def all_of(stream: ByteStream) -> bytes:
    """All bytes until the other side ends its half."""
    data = b""
    try:
        while True:
            data += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return data


class Authority:
    """A certificate authority, and servers' certificates by it.

    Args:
        folder: Where their files are.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "ca.pem"
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority of a test")])
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.file.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def server(self, *names: str) -> ssl.SSLContext:
        """The context of a server with these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
        alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        certificate = self._builder(subject, key.public_key()).add_extension(alternatives, critical=False)
        file = self._folder / f"{names[0]}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(file)
        return context

    def client(self) -> ssl.SSLContext:
        """The context of a client that trusts it."""
        return ssl.create_default_context(cafile=self.file)

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key)
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))

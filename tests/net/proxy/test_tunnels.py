"""Tunnels through the proxy: to the host that was permitted, and to no other behind the same address."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream

from claw_acp.net.proxy.limits import Limits
from tests.net.proxy.test_client_hello import made, names
from tests.support.servers.behind_proxy import Authority, Behind, all_of, behind, by_names, serving

REFUSED = b"\x15\x03\x03\x00\x02\x02\x70"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that clients of a test trust."""
    return Authority(tmp_path_factory.mktemp("authority"))


async def echo(stream: ByteStream) -> None:
    """Repeat what comes, and then say goodbye."""
    try:
        while True:
            await stream.send(await stream.receive())
    except anyio.EndOfStream:
        await stream.send(b"bye")


@asynccontextmanager
async def secured(inside: Behind, host: str, *, name: str | None, context: ssl.SSLContext) -> AsyncGenerator[TLSStream]:
    """TLS inside of a tunnel, to a server of this name."""
    async with await inside.tunnel(f"{host}:443") as tunnel:
        yield await TLSStream.wrap(
            tunnel, hostname=name, server_side=False, ssl_context=context, standard_compatible=False
        )


async def test_tls_to_the_permitted_host_is_carried_untouched(authority: Authority) -> None:
    tls = authority.server("a.test")
    async with (
        serving(echo, tls=tls) as port,
        behind({"a.test": port}) as inside,
        secured(inside, "A.test.", name="a.test", context=authority.client()) as stream,
    ):
        await stream.send(b"secret")
        assert await stream.receive() == b"secret"
    assert inside.records[-1].outcome == "ended"
    assert inside.records[-1].sent > 500


async def test_tls_to_another_name_is_cut_off_with_an_alert(authority: Authority) -> None:
    tls = authority.server("a.test", "b.test")
    async with serving(echo, tls=tls) as port, behind({"a.test": port, "b.test": port}) as inside:
        with pytest.raises(ssl.SSLError, match=r"(?i)unrecognized.name"):
            async with secured(inside, "a.test", name="b.test", context=authority.client()):
                pass
        assert "a TLS connection to another server, 'b.test'" in inside.entrance.refusals_told()
    assert [line.outcome for line in inside.records] == ["allowed", "refused", "ended"]
    assert inside.records[-1].sent == 0


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", "Only TLS is carried"),
        (b"SSH-2.0-x\r\n", "Only TLS is carried"),
        (b"\x16\x03\x01\x00\x04\x02\x00\x00\x00", "not that of a client"),
        (b"\x80\x2e\x01\x03\x01", "Only TLS is carried"),
        (made(names(b"a.test"), (0xFE0D, b"\0")), "whose name is encrypted"),
    ],
)
async def test_a_tunnel_to_a_port_of_tls_carries_nothing_else(sent: bytes, reason: str) -> None:
    arrived: list[bytes] = []

    async def serve(stream: ByteStream) -> None:
        arrived.append(await stream.receive())

    async with serving(serve) as port, behind({"a.test": port}) as inside:
        async with await inside.tunnel("a.test:443") as stream:
            await stream.send(sent)
            assert await all_of(stream) == REFUSED
        assert reason in inside.entrance.refusals_told()
    assert arrived == []


async def test_a_client_that_names_no_server_is_cut_off(authority: Authority) -> None:
    context = ssl.create_default_context(cafile=authority.file)
    context.check_hostname = False
    async with serving(echo, tls=authority.server("a.test")) as port, behind({"a.test": port}) as inside:
        with pytest.raises(ssl.SSLError):
            async with secured(inside, "a.test", name=None, context=context):
                pass
        assert "does not name the server" in inside.entrance.refusals_told()


async def test_a_port_that_a_rule_names_carries_any_protocol_and_the_server_may_speak_first() -> None:
    async def serve(stream: ByteStream) -> None:
        await stream.send(b"SSH-2.0-here\r\n")
        await stream.send(await stream.receive())

    async with (
        serving(serve) as port,
        behind({"a.test": port}, decide=by_names("a.test:22")) as inside,
        await inside.tunnel("a.test:22") as stream,
    ):
        assert await stream.receive() == b"SSH-2.0-here\r\n"
        await stream.send(b"SSH-2.0-there\r\n")
        assert await stream.receive() == b"SSH-2.0-there\r\n"


async def test_either_side_can_end_its_half(authority: Authority) -> None:
    async with (
        serving(echo) as port,
        behind({"a.test": port}, decide=by_names("a.test:22")) as inside,
        await inside.tunnel("a.test:22") as stream,
    ):
        await stream.send(b"x")
        await stream.send_eof()
        assert await all_of(stream) == b"xbye"


async def test_a_tunnel_in_which_nothing_moves_ends() -> None:
    limits = Limits(idle=0.05)
    async with (
        serving(echo) as port,
        behind({"a.test": port}, decide=by_names("a.test:22"), limits=limits) as inside,
        await inside.tunnel("a.test:22") as stream,
    ):
        with anyio.fail_after(10):
            assert await all_of(stream) == b""


async def test_two_hundred_tunnels_are_open_at_once() -> None:
    async with serving(echo) as port, behind({"a.test": port}, decide=by_names("a.test:22")) as inside:
        streams = [await inside.tunnel("a.test:22") for _ in range(200)]
        for number, stream in enumerate(streams):
            await stream.send(b"%d" % number)
        assert [await stream.receive() for stream in streams] == [b"%d" % number for number in range(200)]
        for stream in streams:
            await stream.aclose()


async def test_more_connections_than_the_limit_wait_for_their_turn() -> None:
    limits = Limits(connections=2)
    async with serving(echo) as port, behind({"a.test": port}, decide=by_names("a.test:22"), limits=limits) as inside:
        first, second = await inside.tunnel("a.test:22"), await inside.tunnel("a.test:22")
        third = await inside.connect()
        await third.send(b"CONNECT a.test:22 HTTP/1.1\r\nHost: a.test\r\n\r\n")
        await second.send(b"still here")
        assert await second.receive() == b"still here"
        assert len([line for line in inside.records if line.outcome == "allowed"]) == 2
        await first.aclose()
        assert (await third.receive()).startswith(b"HTTP/1.1 200 ")
        await second.aclose()
        await third.aclose()


async def test_all_connections_of_a_command_end_with_it_and_are_recorded(tmp_path: Path) -> None:
    async with serving(echo) as port:
        async with behind({"a.test": port}, decide=by_names("a.test:22")) as inside:
            stream = await inside.tunnel("a.test:22")
            await stream.send(b"four")
            assert await stream.receive() == b"four"
        assert await all_of(stream) == b""
        await stream.aclose()
    assert [(line.outcome, line.sent, line.received) for line in inside.records] == [("allowed", 0, 0), ("ended", 4, 4)]


async def test_a_large_transfer_takes_no_memory_of_its_size() -> None:
    size, piece = 256 * 1024 * 1024, bytes(1 << 20)

    async def serve(stream: ByteStream) -> None:
        for _ in range(size // len(piece)):
            await stream.send(piece)

    async with serving(serve) as port, behind({"a.test": port}, decide=by_names("a.test:22")) as inside:
        before = peak()
        async with await inside.tunnel("a.test:22") as stream:
            arrived = 0
            while arrived < size:
                arrived += len(await stream.receive(1 << 20))
        assert peak() - before < 32 * 1024 * 1024


def peak() -> int:
    """The largest memory that this process ever had, in bytes."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024

"""Requests in plain HTTP through the proxy: each is read, checked and written anew."""

from functools import partial

import anyio
import pytest
from anyio.abc import ByteStream
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.net.proxy.limits import Limits
from tests.support.servers.behind_proxy import Behind, all_of, behind, head_of, serving

GET = "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\n"
LAST = f"{GET}Connection: close\r\n\r\n"


class Web:
    """A server that keeps the heads it gets, and responds to each with `response`."""

    def __init__(self, response: bytes = b"HTTP/1.1 200 Fine\r\nContent-Length: 4\r\n\r\nhere") -> None:
        self.response = response
        self.heads: list[str] = []
        self.bodies: list[bytes] = []

    async def serve(self, stream: ByteStream) -> None:
        """Serve a connection."""
        self.heads.append(await head_of(stream))
        body = b""
        while "chunked" in self.heads[-1] and not body.endswith(b"0\r\n\r\n"):
            body += await stream.receive()
        self.bodies.append(body)
        await stream.send(self.response)


async def test_a_request_reaches_its_host_without_what_was_meant_for_the_proxy() -> None:
    web = Web()
    hop = "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nTE: trailers\r\nX-Mine: 1\r\n"
    asked = f"{GET}{hop}X-Other: 2\r\nConnection: close, X-Mine\r\n\r\n"
    async with serving(web.serve) as port, behind({"a.test": port}) as inside:
        answer = await inside.asked(asked)
    assert answer.startswith("HTTP/1.1 200 Fine\r\n")
    assert answer.endswith("\r\n\r\nhere")
    assert sorted(web.heads[0].lower().split("\r\n")) == [
        "", "", "connection: close", "get /x http/1.1", "host: a.test", "x-other: 2",
    ]  # fmt: skip
    assert [(line.outcome, line.destination.named) for line in inside.records] == [
        ("allowed", "a.test"),
        ("ended", "a.test"),
    ]
    assert inside.records[1].received == len(web.response)


async def test_the_address_decides_and_not_the_header_that_names_another_host() -> None:
    web = Web()
    async with serving(web.serve) as port, behind({"a.test": port}) as inside:
        await inside.asked(LAST.replace("Host: a.test", "Host: b.test"))
    assert "Host: a.test\r\n" in web.heads[0]
    assert "b.test" not in web.heads[0]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "403 Blocked-by-claw-acp network(b.test)"),
        ("GET http://a.test:81/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "403 Blocked-by-claw-acp network(a.test:81)"),
        ("GET http://127.0.0.1/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "403 Blocked-by-claw-acp"),
        ("GET http://[::1]/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "403 Blocked-by-claw-acp"),
        ("GET http://2130706433/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "403 Blocked-by-claw-acp"),
        ("GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("GET http://a.test@b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n", "400 Bad Request"),
        (f"{GET}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400 Bad Request"),
        (f"{GET}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "400 Bad Request"),
        (f"{GET}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "400 Bad Request"),
        (f"{GET}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "400 Bad Request"),
        (LAST.replace("1.1", "1.0").replace("Connection: close", "Transfer-Encoding: chunked"), "400 Bad Request"),
        ("GET http://a.test/\0 HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("CONNECT a.test\0.b.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("CONNECT a.test%00.b.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("CONNECT a.test\r:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("CONNECT http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "400 Bad Request"),
        ("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc", "400 Bad Request"),
        ("CONNECT [::ffff:7f00:1]:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", "403 Blocked-by-claw-acp"),
        ("CONNECT 0x7f.1:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", "403 Blocked-by-claw-acp"),
        ("\x05\x01\0", "400 Bad Request"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 Bad Request"),
    ],
)  # fmt: skip
async def test_what_is_not_for_a_permitted_host_is_refused_and_nothing_is_looked_up(request_: str, status: str) -> None:
    async with behind({"a.test": 9}) as inside:
        answer = await inside.asked(request_)
    assert answer.startswith(f"HTTP/1.1 {status}\r\n")
    assert inside.names.asked == []


@given(head=st.binary(max_size=200))
async def test_no_bytes_reach_a_host_that_is_not_permitted(head: bytes) -> None:
    async with behind({}) as inside:
        async with await inside.connect() as stream:
            await stream.send(b"GET http://" + head)
            await stream.send_eof()
            with anyio.fail_after(10):
                await all_of(stream)
        assert inside.names.asked == []


HEADERS = (
    b"Host: a.test", b"Host: b.test", b"host:a.test", b"Content-Length: 0", b"Content-Length: 44", b" folded: 1",
    b"Content-Length: 4, 4", b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity", b"Upgrade: h2c",
    b"Transfer-Encoding:\x0bchunked", b"X: 1\r\n\r\nGET http://b.test/ HTTP/1.1", b"Connection: content-length, host",
    b"X-Y: \x00", b"Expect: 100-continue", b"Connection: close", b"Content-Length : 3", b":authority: b.test",
    b"X: 1\n Host: b.test",
)  # fmt: skip
TARGETS = (
    b"http://a.test/", b"http://b.test/", b"http://a.test@b.test/", b"http://a.test:80\\@b.test/", b"/", b"b.test:80",
    b"http://a.test/ HTTP/1.1\r\nX: ", b"http://a.test#@b.test/", b"http://a.test/\thttp://b.test/", b"//b.test/",
)  # fmt: skip
HIDDEN = b"2c\r\nGET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n\r\n0\r\n\r\n"


@given(
    target=st.sampled_from(TARGETS),
    headers=st.lists(st.sampled_from(HEADERS), max_size=5),
    end=st.sampled_from((b"\r\n", b"\n", b"\r\r\n")),
    version=st.sampled_from((b"1.1", b"1.0", b"0.9", b"1.1 ")),
)
async def test_however_a_head_is_written_the_server_gets_requests_for_itself_alone(
    target: bytes, headers: list[bytes], end: bytes, version: bytes
) -> None:
    web = Web()
    head = end.join([b"POST " + target + b" HTTP/" + version, b"Host: a.test", *headers, b"", b""])
    async with serving(web.serve) as port, behind({"a.test": port}) as inside, await inside.connect() as stream:
        await stream.send(head + HIDDEN)
        await stream.send_eof()
        with anyio.fail_after(10):
            await all_of(stream)
    assert set(inside.names.asked) <= {"a.test"}
    for seen in web.heads:
        assert seen.startswith("POST / HTTP/1.1\r\n")
        assert seen.lower().count("\r\nhost:") == seen.count("\r\nHost: a.test\r\n") == 1
        assert "\n\n" not in seen
    assert not any(seen.startswith("GET") for seen in web.heads)


async def test_a_second_request_on_the_same_connection_is_checked_like_the_first() -> None:
    web = Web()
    async with (
        serving(web.serve) as port,
        behind({"a.test": port, "c.test": port}) as inside,
        await inside.connect() as stream,
    ):
        other = LAST.replace("a.test", "b.test")
        await stream.send(f"{GET}\r\n{GET.replace('a.test', 'c.test')}\r\n{other}".encode())
        answers = (await all_of(stream)).decode()
    assert answers.count("HTTP/1.1 200 Fine") == 2
    assert "403 Blocked-by-claw-acp network(b.test)" in answers
    assert [head.partition("Host: ")[2].split("\r\n")[0] for head in web.heads] == ["a.test", "c.test"]


async def test_a_length_is_not_taken_away_by_naming_it_as_the_proxys_own() -> None:
    web = Web()
    async with serving(web.serve) as port, behind({"a.test": port}) as inside:
        hidden = "GET http://b.test/ HTTP/1.1\r\n\r\n"
        asked = f"{GET}Connection: close, content-length, host\r\nContent-Length: {len(hidden)}\r\n\r\n{hidden}"
        assert (await inside.asked(asked)).startswith("HTTP/1.1 200 Fine")
    assert f"Content-Length: {len(hidden)}\r\n" in web.heads[0]


async def test_a_request_hidden_in_a_body_is_a_body() -> None:
    web = Web()
    hidden = b"GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n"
    body = b"%x;ext=1\r\n%b\r\n0\r\nX-Trailer: 1\r\n\r\n" % (len(hidden), hidden)
    async with serving(web.serve) as port, behind({"a.test": port}) as inside:
        await inside.asked(f"{LAST[:-2]}Transfer-Encoding: chunked\r\n\r\n".encode() + body)
    assert web.bodies == [b"%x\r\n%b\r\n0\r\n\r\n" % (len(hidden), hidden)]


@pytest.mark.parametrize(
    ("response", "head", "body"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", "transfer-encoding: chunked", "d\r\nuntil the end\r\n0\r\n\r\n"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nokrest", "content-length: 2", "ok"),
        (b"HTTP/1.1 302 Found\r\nLocation: //b.test/\r\nContent-Length: 0\r\n\r\n", "location: //b.test/", ""),
        (b"HTTP/1.1 204 None\r\nConnection: X-Own\r\nX-Own: 1\r\n\r\n", "204 None", ""),
        (b"HTTP/1.1 103 Hints\r\nX-A: 1\r\n\r\nHTTP/1.1 204 None\r\n\r\n", "103 Hints\r\nX-A: 1", "HTTP/1.1 204 None"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "transfer-encoding: chunked", "2\r\nok\r\n0\r\n\r\n"),
        (b"SSH-2.0-OpenSSH\r\n", "502 Unreachable a.test", "broke off"),
        (b"", "502 Unreachable a.test", "broke off"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, "502 Unreachable a.test", "broke off"),
    ],
)  # fmt: skip
async def test_a_response_is_passed_on_as_what_it_means(response: bytes, head: str, body: str) -> None:
    async with serving(Web(response).serve) as port, behind({"a.test": port}) as inside:
        answer = await inside.asked(LAST)
    assert head.lower() in answer.lower()
    assert body in answer.partition("\r\n\r\n")[2]
    assert "X-Own" not in answer
    assert "rest" not in answer


async def test_a_body_may_wait_for_the_server_to_want_it() -> None:
    async def serve(stream: ByteStream) -> None:
        await head_of(stream)
        await stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert await stream.receive() == b"body"
        await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    async with serving(serve) as port, behind({"a.test": port}) as inside, await inside.connect() as stream:
        await stream.send(f"{GET}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n".encode())
        assert (await head_of(stream)).startswith("HTTP/1.1 100 ")
        await stream.send(b"body")
        assert (await head_of(stream)).startswith("HTTP/1.1 200 ")


async def websocket(stream: ByteStream, heads: list[str]) -> None:
    """A server that switches to another protocol, and then repeats what it gets."""
    heads.append(await head_of(stream))
    await stream.send(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-A: 1\r\n\r\nearly")
    while True:
        await stream.send(await stream.receive())


@pytest.mark.parametrize("tunnelled", [False, True])
async def test_a_websocket_without_tls_works_with_and_without_a_tunnel(*, tunnelled: bool) -> None:
    heads: list[str] = []
    target = "/x" if tunnelled else "http://a.test/x"
    async with (
        serving(partial(websocket, heads=heads)) as port,
        behind({"a.test": port}) as inside,
        await (inside.tunnel("a.test:80") if tunnelled else inside.connect()) as stream,
    ):
        await stream.send(
            f"GET {target} HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".encode()
        )
        assert (await head_of(stream)).startswith("HTTP/1.1 101 ")
        assert await stream.receive() == b"early"
        await stream.send(b"ping")
        assert await stream.receive() == b"ping"
    assert "upgrade: websocket" in heads[0].lower()


async def test_plain_http_in_a_tunnel_stays_with_the_host_of_the_tunnel() -> None:
    web = Web()
    async with (
        serving(web.serve) as port,
        behind({"a.test": port, "b.test": port}) as inside,
        await inside.tunnel("a.test:80") as stream,
    ):
        ask = "GET /x HTTP/1.1\r\nHost: {}\r\n\r\n"
        await stream.send((ask.format("a.test") + ask.format("b.test")).encode())
        answer = (await all_of(stream)).decode()
    assert "HTTP/1.1 200 Fine" in answer
    assert "HTTP/1.1 403 Blocked-by-claw-acp\r\n" in answer
    assert len(web.heads) == 1


async def test_a_head_that_does_not_come_holds_its_connection_only_for_a_time() -> None:
    async with behind({"a.test": 9}, limits=Limits(first_request=0.05)) as inside, await inside.connect() as stream:
        await stream.send(b"GET http://a.test/ HTTP/1.1\r\n")
        with anyio.fail_after(10):
            assert await all_of(stream) == b""


async def test_a_head_has_a_limit() -> None:
    async with behind({"a.test": 9}) as inside:
        answer = await inside.asked(b"GET http://a.test/ HTTP/1.1\r\n" + b"X: " + b"x" * 300_000)
    assert answer.startswith("HTTP/1.1 400 ")


async def refusals(inside: Behind) -> str:
    """What a command is told at its end, after a request to another host."""
    await inside.asked(LAST.replace("a.test", "b.test"))
    return inside.entrance.refusals_told()


async def test_the_end_of_a_command_tells_what_was_refused_and_the_rule_that_would_allow_it() -> None:
    async with behind({"a.test": 9}) as inside:
        assert inside.entrance.refusals_told() == ""
        assert await refusals(inside) == await refusals(inside)
        assert inside.entrance.refusals_told() == (
            "The sandbox refused connections of this command:\n"
            "- b.test:80: No rule. The rule `network(b.test)` would allow it."
        )


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (LAST, "HTTP/1.1 502 Unreachable a.test"),
        (f"{GET}Content-Length: 5\r\n\r\nab", "HTTP/1.1 502 Unreachable a.test"),
        ("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 400 Bad Request"),
    ],
)
async def test_a_side_that_says_nothing_any_more_does_not_keep_its_connection(request_: str, answer: str) -> None:
    limits = Limits(idle=0.05, unused=0.05)
    async with serving(all_of_it) as port, behind({"a.test": port}, limits=limits) as inside:
        assert (await inside.asked(request_)).startswith(answer)


async def all_of_it(stream: ByteStream) -> None:
    """A server that only listens."""
    await all_of(stream)

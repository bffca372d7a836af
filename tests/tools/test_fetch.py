"""Fetching from real servers on loopback."""

import gzip
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.tool import FetchesUrl
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.core.untrusted import untrusted
from claw_acp.net import fetch as net_fetch
from claw_acp.net.address_guard import AddressGuard, refusal
from claw_acp.tools.web.fetch import Fetch
from tests.support.tool_bench import Bench, said


class Site:
    """A web server whose pages are set by path; `seen` are the requests it got."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.seen: list[str] = []
        self.port = 0

    def page(self, path: str, body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {"Content-Type": "text/html"}).items()]
        self.pages[path] = "\r\n".join([*lines, "", ""]).encode() + body

    def redirect(self, path: str, location: str) -> None:
        self.page(path, b"", status=302, headers={"Location": location})

    def url(self, path: str, *, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def answer(self, stream: SocketStream) -> None:
        async with stream:
            head = b""
            while b"\r\n\r\n" not in head:
                head += await stream.receive()
            self.seen.append(head.decode())
            path = head.split(b" ", 2)[1].decode()
            with suppress(anyio.BrokenResourceError):  # the other side had read enough
                await stream.send(self.pages[path])


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    site.port = listener.extra(SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, site.answer)
        with anyio.fail_after(30):
            yield site
        tasks.cancel_scope.cancel()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.on(tmp_path)


LOCAL = ("127.0.0.1", "localhost")


async def test_a_page_comes_back_as_marked_text(site: Site, bench: Bench) -> None:
    site.page("/p", b"<h1>Hello</h1><p>see <a href='/q'>more</a>")
    result = await bench.call(Fetch(allow_hosts=LOCAL), url=site.url("/p"))
    first, *middle, last = said(result).splitlines()
    assert first.startswith("<<<")
    assert site.url("/p") in first
    assert "not instructions" in first
    assert middle == ["# Hello", "", f"see [more]({site.url('/q')})"]
    assert last.startswith(first.split(" ")[0])
    assert last.endswith("ends>>>")
    assert result.raw == {"url": site.url("/p"), "status": 200, "contentType": "text/html"}
    assert not result.failed


async def test_the_request_names_the_host_and_no_secrets(site: Site, bench: Bench) -> None:
    site.page("/p?q=1", b"x")
    await bench.call(Fetch(allow_hosts=LOCAL), url=site.url("/p?q=1#part", host="localhost"))
    lines = site.seen[0].lower().split("\r\n")
    assert lines[0] == "get /p?q=1 http/1.1"
    assert f"host: localhost:{site.port}" in lines
    assert not [line for line in lines if line.startswith(("cookie", "authorization", "referer"))]


def test_a_call_says_what_it_will_fetch(bench: Bench) -> None:
    call = bench.prepare(Fetch(), url="https://example.org/\x1bx")
    assert (call.view.title, call.view.kind) == ("Fetch https://example.org/\\x1bx", "fetch")
    assert call.accesses == (FetchesUrl(url="https://example.org/\x1bx"),)
    with pytest.raises(InvalidArguments):
        bench.prepare(Fetch(), url="https://example.org", max_chars=0)


@given(text=st.text(alphabet="<>0123456789abcdef \nendsbegins", max_size=200))
def test_a_page_cannot_write_the_end_of_its_own_text(text: str) -> None:
    marked = untrusted(text, source="http://x/", token="0123456789abcdef")
    begin, *_, end = marked.split("\n")
    assert marked == f"{begin}\n{text}\n{end}"
    assert "0123456789abcdef" not in text or text.count("0123456789abcdef") == marked.count("0123456789abcdef") - 2


async def test_every_call_has_another_mark(site: Site, bench: Bench) -> None:
    site.page("/p", b"x")
    texts = [await bench.text(Fetch(allow_hosts=LOCAL), url=site.url("/p")) for _ in range(2)]
    assert texts[0].split(" ")[0] != texts[1].split(" ")[0]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]"]
)
async def test_the_own_machine_is_not_fetched_however_it_is_spelled(site: Site, bench: Bench, host: str) -> None:
    with pytest.raises(ToolError, match=r"not on the public internet|unknown"):
        await bench.call(Fetch(), url=site.url("/p", host=host))
    assert site.seen == []


@pytest.mark.parametrize(
    ("address", "refused"),
    [
        ("8.8.8.8", False),
        ("172.15.0.1", False),
        ("172.32.0.1", False),
        ("2606:4700::1111", False),
        ("10.1.2.3", True),
        ("172.16.0.1", True),
        ("192.168.1.1", True),
        ("169.254.169.254", True),
        ("168.63.129.16", True),
        ("100.100.100.200", True),
        ("224.0.0.1", True),
        ("255.255.255.255", True),
        ("0.0.0.0", True),
        ("::", True),
        ("::1", True),
        ("::8.8.8.8", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True),
        ("64:ff9b:1::1", True),
        ("2002:7f00:1::", True),
        ("2001:0:1::", True),
        ("fd00:ec2::254", True),
        ("fe80::1%lo", True),
        ("ff02::1", True),
        ("4000::1", True),
    ],
)
def test_only_public_addresses_are_fetched(address: str, *, refused: bool) -> None:
    assert (refusal(address) is not None) == refused


@given(address=st.ip_addresses())
def test_what_the_standard_library_calls_not_global_is_refused(address: object) -> None:
    if not getattr(address, "is_global", False):
        assert refusal(str(address)) is not None


@pytest.mark.parametrize(
    ("allowed", "host", "reached"),
    [
        ("LOCALHOST.", "localhost", True),
        ("127.0.0.1", "localhost", False),
        ("*.localhost", "localhost", False),
        ("*.0.0.1", "127.0.0.1", True),
        ("host", "localhost", False),
    ],
)
async def test_a_host_is_allowed_by_its_name(site: Site, allowed: str, host: str, *, reached: bool) -> None:
    guard = AddressGuard(allow_hosts=(allowed,))
    if reached:
        assert await guard.address(host, port=site.port) in {"127.0.0.1", "::1"}
    else:
        with pytest.raises(ToolError, match="permission rule"):
            await guard.address(host, port=site.port)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://example.org/", "only http"),
        ("file:///etc/passwd", "only http"),
        ("example.org", "only http"),
        ("http://", "only http"),
        ("http://u:p@example.org/", "user name or password"),
        ("http://example.org:99999/", "not a URL"),
        ("http://no-such-host.invalid/", "unknown"),
    ],
)
async def test_what_is_no_public_url_is_refused(bench: Bench, url: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        await bench.call(Fetch(), url=url)


async def test_redirects_within_the_host_are_followed(site: Site, bench: Bench) -> None:
    site.redirect("/a", "b?x=1")
    site.redirect("/b?x=1", site.url("/c"))
    site.page("/c", b"there")
    result = await bench.call(Fetch(allow_hosts=LOCAL), url=site.url("/a"))
    assert "there" in said(result)
    assert isinstance(result.raw, dict)
    assert result.raw["url"] == site.url("/c")


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("http://example.org/x", "another host and was not followed.*fetch http://example.org/x"),
        ("//169.254.169.254/latest", "another host"),
        ("file:///etc/passwd", "only http"),
        ("http://u:p@127.0.0.1/", "user name or password"),
        ("http://127.0.0.1:port/", "could not be fetched: Invalid URL"),
        ("/again", "more than 5 redirects"),
    ],
)
async def test_a_redirect_that_leads_away_is_not_followed(
    site: Site, bench: Bench, location: str, message: str
) -> None:
    site.redirect("/again", location)
    with pytest.raises(ToolError, match=message):
        await bench.call(Fetch(allow_hosts=LOCAL), url=site.url("/again"))


@pytest.mark.parametrize(
    ("address", "passes"),
    [
        ("10.1.2.3", True),
        ("127.0.0.1", True),
        ("192.168.0.9", True),
        ("::1", True),
        ("fd12::1", True),
        ("8.8.8.8", True),
        ("169.254.169.254", False),
        ("fe80::1", False),
        ("100.100.100.200", False),
        ("fd00:ec2::254", False),
        ("168.63.129.16", False),
        ("::ffff:169.254.169.254", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
    ],
)
def test_a_name_that_a_person_allowed_may_lead_to_a_private_network_and_no_further(address: str, passes: bool) -> None:  # noqa: FBT001
    assert (refusal(address, allowed=True) is None) is passes


async def test_an_address_that_a_person_wrote_is_allowed_as_it_is() -> None:
    guard = AddressGuard(allow_hosts=("169.254.169.254", "fe80::1"))
    assert await guard.address("169.254.169.254", port=80) == "169.254.169.254"
    with pytest.raises(ToolError):
        await guard.address("169.254.1.1", port=80)


async def test_each_step_of_a_redirect_is_guarded_again(site: Site) -> None:
    site.redirect("/a", "/b")
    site.page("/b", b"internal")

    class Rebinding(AddressGuard):
        async def address(self, host: str, *, port: int) -> str:
            if site.seen:
                return await AddressGuard().address(host, port=port)
            return await super().address(host, port=port)

    with pytest.raises(ToolError, match="loopback"):
        await net_fetch.get(site.url("/a"), guard=Rebinding(allow_hosts=LOCAL))
    assert len(site.seen) == 1


async def test_a_long_page_is_cut_and_says_so(site: Site, bench: Bench) -> None:
    site.page("/p", b"x" * 100, headers={"Content-Type": "text/plain"})
    text = await bench.text(Fetch(allow_hosts=LOCAL), url=site.url("/p"), max_chars=10)
    assert "\nxxxxxxxxxx\n<<<" in text
    assert text.endswith("Cut after 10 of 100 characters; ask for more with max_chars.")


@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_of_a_huge_page_only_the_beginning_is_read(site: Site, coding: str) -> None:
    body = b"a" * (net_fetch.MAX_BODY * 20 if coding == "gzip" else net_fetch.MAX_BODY + 10)
    sent = gzip.compress(body) if coding == "gzip" else body
    site.page("/p", sent, headers={"Content-Type": "text/plain", "Content-Encoding": coding})
    page = await net_fetch.get(site.url("/p"), guard=AddressGuard(allow_hosts=LOCAL))
    assert (len(page.body), page.truncated) == (net_fetch.MAX_BODY, True)


@pytest.mark.parametrize(
    ("headers", "body", "text"),
    [
        ({"Content-Type": "application/json"}, b'{"a": "\xc3\xa4"}', '{"a": "ä"}'),
        ({"Content-Type": "application/rss+xml; charset=utf-8"}, b"<rss/>", "<rss/>"),
        ({"Content-Type": "text/plain; charset=ISO-8859-1"}, b"\xe4", "ä"),
        ({"Content-Type": "text/html"}, b"<meta charset='windows-1252'>\x80", "€"),
        ({"Content-Type": "text/plain; charset=punycode"}, b"a-b", "a-b"),
        ({"Content-Type": "text/plain; charset=cp99999"}, b"a", "a"),
        ({"Content-Type": "text/plain"}, b"\xef\xbb\xbfmark \xff", "mark \ufffd"),
        ({"Content-Type": "text/plain", "Content-Encoding": "gzip"}, gzip.compress(b"packed", mtime=0), "packed"),
        ({"X": "y"}, b" <p>sniffed", "sniffed"),
        ({"X": "y"}, b"plain", "plain"),
    ],
)
async def test_text_of_every_kind_is_read(
    site: Site, bench: Bench, headers: Mapping[str, str], body: bytes, text: str
) -> None:
    site.page("/p", body, headers=headers)
    assert (await bench.text(Fetch(allow_hosts=LOCAL), url=site.url("/p"))).split("\n")[1:-1] == [text]


@pytest.mark.parametrize(
    ("headers", "body", "message"),
    [
        ({"Content-Type": "image/png"}, b"x", "is image/png, not text"),
        ({"Content-Type": "text/plain"}, b"a\0b", "content is binary"),
        ({"Content-Type": "text/plain", "Content-Encoding": "br"}, b"x", "coding 'br'"),
        ({"Content-Type": "text/plain", "Content-Encoding": "gzip, gzip"}, b"x", "coding 'gzip, gzip'"),
        ({"Content-Type": "text/plain", "Content-Encoding": "gzip"}, b"not gzip", "answer is broken"),
    ],
)
async def test_what_is_not_text_is_refused_with_the_reason(
    site: Site, bench: Bench, headers: Mapping[str, str], body: bytes, message: str
) -> None:
    site.page("/p", body, headers=headers)
    with pytest.raises(ToolError, match=message):
        await bench.call(Fetch(allow_hosts=LOCAL), url=site.url("/p"))


async def test_an_error_status_is_a_failed_result_with_what_the_server_said(site: Site, bench: Bench) -> None:
    site.page("/p", b"<p>no such page", status=404)
    result = await bench.call(Fetch(allow_hosts=LOCAL), url=site.url("/p"))
    assert result.failed
    assert "no such page" in said(result)
    assert said(result).endswith("HTTP status 404.")


async def test_a_server_that_does_not_answer_properly_is_an_error(site: Site, bench: Bench) -> None:
    site.pages["/p"] = b"nonsense\r\n\r\n"
    with pytest.raises(ToolError, match="could not be fetched"):
        await bench.call(Fetch(allow_hosts=LOCAL), url=site.url("/p"))
    with pytest.raises(ToolError, match="could not be fetched"):
        await bench.call(Fetch(allow_hosts=LOCAL), url="http://127.0.0.1:1/")


async def test_a_server_that_never_answers_is_given_up_on() -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener:
        url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/"
        with pytest.raises(ToolError, match=r"not there after 0\.1 s"):
            await net_fetch.get(url, guard=AddressGuard(allow_hosts=LOCAL), within=0.1)

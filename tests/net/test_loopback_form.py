"""The one-time form: who gets to see it, who gets to send it, and that nothing wears it down."""

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import anyio
import pytest
from anyio import to_thread

from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.net import loopback_form
from claw_acp.net.loopback_form import CONNECTIONS, LoopbackForm, Page
from tests.support.editors.browser import WebPage, send_form, visit

FORM = '<form><input name="ticket" value="{}"><input name="key"></form>'


class Desk:
    """Notes what was sent; `done` ends it."""

    def __init__(self) -> None:
        self.sent: list[Mapping[str, str]] = []
        self.form = LoopbackForm(self.answer, clock=SYSTEM_CLOCK)

    async def answer(self, fields: Mapping[str, str] | None) -> Page:
        if fields is None:
            return Page(html=FORM.format(self.form.ticket))
        self.sent.append(fields)
        return Page(html="thanks", last=fields.get("key") == "done")

    @asynccontextmanager
    async def served(self) -> AsyncGenerator[str]:
        with anyio.fail_after(20):
            async with self.form.served():
                yield self.form.url


async def read(url: str, method: str = "GET", body: str = "", **headers: str) -> WebPage:
    return await to_thread.run_sync(lambda: visit(url, method=method, body=body, **headers))


async def send(page: WebPage, **values: str) -> WebPage:
    return await to_thread.run_sync(lambda: send_form(page, **values))


async def test_a_form_is_read_filled_in_and_sent() -> None:
    desk = Desk()
    async with desk.served() as url:
        page = await read(url)
        assert page.status == 200
        assert (await send(page, key="sk-1 ä&=%")).html == "thanks"
        assert not desk.form.finished.is_set()
        assert (await send(page, key="done")).html == "thanks"
        await desk.form.finished.wait()
        assert (await send(page, key="late")).status == 410
        assert (await read(url)).status == 410
    assert desk.sent == [{"key": "sk-1 ä&=%"}, {"key": "done"}]


async def test_the_page_is_for_this_machine_and_leaves_nothing_behind() -> None:
    desk = Desk()
    async with desk.served() as url:
        assert urlsplit(url).hostname == "127.0.0.1"
        headers = (await read(url)).headers
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    with pytest.raises(ConnectionRefusedError):
        await read(url)


async def test_only_the_whole_address_under_its_own_name_shows_anything() -> None:
    desk = Desk()
    async with desk.served() as url:
        parts = urlsplit(url)
        assert (await read(f"http://{parts.netloc}/")).status == 404
        assert (await read(f"{url}x")).status == 404
        assert (await read(url[:-1])).status == 404
        assert (await read(url, Host=f"evil.example:{parts.port}")).status == 404
        assert (await read(url, Host="")).status == 400
        assert (await read(url, method="DELETE")).status == 405
        assert (await read(url)).status == 200
    assert len(parts.path) > 40


@pytest.mark.parametrize(
    "changed",
    [
        {"Origin": "http://evil.example"},
        {"Origin": ""},
        {"Origin": "null"},
        {"Content_Type": "text/plain"},
        {"Content_Type": ""},
    ],
    ids=str,
)
async def test_a_form_sent_from_elsewhere_is_refused(changed: dict[str, str]) -> None:
    desk = Desk()
    async with desk.served() as url:
        origin = f"http://{urlsplit(url).netloc}"
        headers = {"Origin": origin, "Content_Type": "application/x-www-form-urlencoded"} | changed
        answer = await read(url, method="POST", body=f"ticket={desk.form.ticket}&key=x", **headers)
    assert (answer.status, desk.sent) == (403, [])


async def test_a_form_without_its_ticket_is_refused() -> None:
    desk = Desk()
    async with desk.served() as url:
        page = await read(url)
        for wrong in ("", "x", desk.form.ticket[:-1]):
            assert (await send(page, ticket=wrong, key="x")).status == 403
    assert desk.sent == []


async def test_what_is_too_much_or_no_http_is_turned_away_and_the_rest_goes_on() -> None:
    desk = Desk()
    async with desk.served() as url:
        page = await read(url)
        assert (await send(page, key="x" * loopback_form.BODY_LIMIT)).status == 413
        port = urlsplit(url).port
        assert port is not None
        for noise in (b"\x16\x03\x01 not http\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"y" * 32768, b""):
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                await stream.send(noise) if noise else await stream.send_eof()
                with suppress(anyio.BrokenResourceError):
                    async for _ in stream:
                        pass  # until it is closed
        assert (await read(url)).status == 200


async def test_connections_that_say_nothing_are_few_and_do_not_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback_form, "REQUEST_TIMEOUT", 0.2)
    desk = Desk()
    async with desk.served() as url:
        port = urlsplit(url).port
        silent = [socket.create_connection(("127.0.0.1", port or 0)) for _ in range(CONNECTIONS)]
        for one in silent:
            await to_thread.run_sync(one.recv, 1)  # until it is closed
            one.close()
        assert (await read(url)).status == 200

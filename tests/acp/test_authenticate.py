"""Logging in and out through the protocol: a page for the key, forms without secrets, words where nothing else goes."""

import json
import tomllib
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from tests.support.editors.browser import WebPage, send_form, visit
from tests.support.editors.editor import Editor
from tests.support.editors.editor_desk import SILENCE
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, RpcFailure
from tests.support.file_keyring import NO_KEYRING, keyring_environment
from tests.support.program.forked_process import forked_python
from tests.support.servers.model_replies import failure
from tests.support.servers.model_server import WRONG_KEY, ModelServer
from tests.support.servers.vendors_here import PROGRAM, vendors_here

KEY = "sk-right-0123456789abcdef"
WRONG = "sk-wrong-0123456789abcdef"
MODEL = 'model = "openai/test-model"\n'
URLS: Json = {"elicitation": {"url": {}}}
FORMS: Json = {"elicitation": {"form": {}}}
LOGIN = {"methodId": "api-key"}


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as server:
        server.serves_only(KEY)
        yield server


@pytest.fixture
def vendor_spawn(spawn: Spawn, server: ModelServer) -> Spawn:
    """`spawn`, with the vendors at the test's own address, and no keyring but what `env` says."""

    def spawned(*, env: dict[str, str] | None = None, **options: Any) -> AbstractAsyncContextManager[Editor]:
        return spawn(python=PROGRAM, env={**NO_KEYRING, **vendors_here(server.port), **(env or {})}, **options)

    return spawned


class Person:
    """Somebody at the client, who opens the page and sends keys there, one after the other."""

    def __init__(self, editor: Editor, *keys: str, action: str = "accept", answers: bool = True, **fields: str) -> None:
        self.asked: list[Json] = []
        self.pages: list[WebPage] = []
        self._keys = keys
        self._action = action
        self._answers = answers
        self._fields = fields
        self._gone = anyio.Event()
        editor.serve("elicitation/create", self.answer)

    async def answer(self, params: Json) -> Any:
        """Do it."""
        self.asked.append(params)
        if self._action == "accept":
            await to_thread.run_sync(self._visit, params["url"])
        self._gone.set()
        return {"action": self._action} if self._answers else SILENCE

    async def seen(self) -> list[WebPage]:
        """The pages, once the last of them has come: the agent may be done a moment before."""
        await self._gone.wait()
        return self.pages

    def _visit(self, url: str) -> None:
        self.pages.append(visit(url))
        for key in self._keys:
            self.pages.append(send_form(self.pages[-1], key=key, **self._fields))


def kept(home: Path) -> Json:
    file = home / "claw" / "credentials.toml"
    return tomllib.loads(file.read_text()) if file.exists() else {}


def session(editor: Editor) -> Json:
    return {"cwd": str(editor.project), "mcpServers": []}


# ------------------------------------------------------------------ a page


@pytest.mark.case(42)
@pytest.mark.rule("auth.required")
async def test_a_key_entered_on_the_page_is_tried_kept_and_used(
    vendor_spawn: Spawn, server: ModelServer, home: Path
) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        assert (await editor.failing("session/new", session(editor))).code == -32000
        person = Person(editor, KEY)
        call = await editor.start("authenticate", LOGIN)
        assert await call.result() == {}
        (asked,) = person.asked
        assert (asked["mode"], asked["requestId"]) == ("url", call.id)
        pages = await person.seen()
        assert [page.status for page in pages] == [200, 200]
        assert "2 models" in pages[-1].html
        (done,) = editor.received("elicitation/complete")
        assert done["params"] == {"elicitationId": asked["elicitationId"]}
        assert kept(home) == {"openai": {"key": KEY}}
        await editor.new_session()
        server.will_say("there you are")
        assert (await editor.prompt("hi")).text == "there you are"
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    async with vendor_spawn(config=MODEL) as editor:
        await editor.initialize()
        await editor.new_session()


async def test_the_page_offers_the_provider_that_is_wanted_and_loads_nothing(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        person = Person(editor, KEY)
        await editor.request("authenticate", LOGIN)
        (page, _) = await person.seen()
    assert page.choices[:3] == ["anthropic", "openai", "gemini"]
    assert "groq" in page.choices
    assert page.fields["provider"] == "openai"
    assert page.fields["key"] == ""
    assert "src=" not in page.html
    assert "<script" not in page.html
    assert "<strong>unencrypted</strong> in " in page.html


async def test_where_a_passphrase_is_named_the_key_from_the_page_is_encrypted(vendor_spawn: Spawn, home: Path) -> None:
    env = {"CLAW_ACP_PASSPHRASE": "right horse"}
    async with vendor_spawn(config=MODEL, capabilities=URLS, env=env) as editor:
        await editor.initialize()
        person = Person(editor, KEY)
        await editor.request("authenticate", LOGIN)
        (page, _) = await person.seen()
        await editor.new_session()
    assert "unencrypted" not in page.html
    assert [list(login) for login in kept(home).values()] == [["encrypted"]]


async def test_a_wrong_key_is_told_on_the_page_in_the_vendors_words_and_can_be_corrected(
    vendor_spawn: Spawn, home: Path
) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        person = Person(editor, WRONG, "  ", KEY)
        assert await editor.request("authenticate", LOGIN) == {}
        pages = await person.seen()
    assert WRONG_KEY in pages[1].html
    assert WRONG not in pages[1].html
    assert "Enter the key." in pages[2].html
    assert kept(home) == {"openai": {"key": KEY}}


async def test_a_key_that_cannot_be_tried_is_kept_only_when_the_person_says_so(
    vendor_spawn: Spawn, server: ModelServer, home: Path
) -> None:
    server.serves_only()
    server.always_lists(failure(503, {"error": {"message": "out of order"}}))
    server.always(failure(503, {"error": {"message": "out of order"}}))
    async with vendor_spawn(config='model = "openai/x"\n', capabilities=URLS) as editor:
        await editor.initialize()
        seen: list[WebPage] = []
        gone = anyio.Event()

        def act(url: str) -> None:
            first = send_form(visit(url), key=KEY)
            seen.extend([first, send_form(first, key=KEY, untried="yes")])

        async def answer(params: Json) -> Json:
            await to_thread.run_sync(act, params["url"])
            gone.set()
            return {"action": "accept"}

        editor.serve("elicitation/create", answer)
        assert await editor.request("authenticate", LOGIN) == {}
        await gone.wait()
    assert ("untried" in seen[0].buttons, seen[1].status) == (True, 200)
    assert kept(home) == {"openai": {"key": KEY}}


async def test_the_page_may_be_done_before_the_client_has_answered(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        Person(editor, KEY, answers=False)
        assert await editor.request("authenticate", LOGIN) == {}
        assert len(editor.received("elicitation/complete")) == 1
        (asked,) = editor.received("elicitation/create")
        assert [note["params"] for note in editor.received("$/cancel_request")] == [{"requestId": asked["id"]}]


@pytest.mark.parametrize("action", ["decline", "cancel", "_shrug"])
async def test_whoever_does_not_want_to_is_told_how_else(vendor_spawn: Spawn, home: Path, action: str) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        Person(editor, action=action)
        refused = await editor.failing("authenticate", LOGIN)
        assert refused.code == -32000
        assert "claw-acp login openai" in refused.message
        assert editor.received("elicitation/complete") == []
    assert kept(home) == {}


async def test_a_client_that_fails_to_ask_is_an_answer_too(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        editor.serve("elicitation/create", lambda _: RpcFailure(-32603, "no browser"))
        assert (await editor.failing("authenticate", LOGIN)).code == -32000


async def test_a_login_that_is_cancelled_takes_its_page_with_it(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        editor.serve("elicitation/create", lambda _: {"action": "accept"})
        call = await editor.start("authenticate", LOGIN)
        await editor.wait_for(lambda: editor.received("elicitation/create"), "the question")
        url = editor.received("elicitation/create")[0]["params"]["url"]
        await editor.notify("$/cancel_request", {"requestId": call.id})
        assert (await call.failure()).code == -32800
        with pytest.raises(ConnectionRefusedError):
            await to_thread.run_sync(visit, url)


async def test_an_editor_that_leaves_in_the_middle_of_a_login_is_no_trouble(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        editor.serve("elicitation/create", lambda _: {"action": "accept"})
        await editor.start("authenticate", LOGIN)
        await editor.wait_for(lambda: editor.received("elicitation/create"), "the question")


async def test_who_has_a_key_is_not_asked_for_one(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS, env={"OPENAI_API_KEY": KEY}) as editor:
        await editor.initialize()
        assert await editor.request("authenticate", LOGIN) == {}
        assert editor.received("elicitation/create") == []


async def test_a_key_that_was_refused_is_asked_for_again(vendor_spawn: Spawn, home: Path) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS, env={"OPENAI_API_KEY": WRONG}) as editor:
        await editor.initialize()
        assert (await editor.request("auth/status", {}))["state"] == "authenticated"
        await editor.new_session()
        assert WRONG_KEY in (await (await editor.start_prompt("hi")).failure()).message
        await editor.wait_for(lambda: editor.received("auth/status_update"), "the news")
        assert editor.received("auth/status_update")[-1]["params"]["state"] == "unauthenticated"
        Person(editor, KEY)
        assert await editor.request("authenticate", LOGIN) == {}
        assert kept(home) == {"openai": {"key": KEY}}


async def test_without_any_model_a_key_makes_one_and_declining_leaves_the_offline_assistant(
    vendor_spawn: Spawn, home: Path
) -> None:
    async with vendor_spawn(capabilities=URLS) as editor:
        await editor.initialize()
        Person(editor, action="decline")
        assert await editor.request("authenticate", LOGIN) == {}
        Person(editor, KEY, provider="openai")
        assert await editor.request("authenticate", LOGIN) == {}
        options = (await editor.new_session())["configOptions"]
        model = next(option["currentValue"] for option in options if option["id"] == "model")
        assert model == "openai/other-model"  # not the one that calls itself a test


async def test_a_keyring_keeps_what_is_entered_on_the_page(vendor_spawn: Spawn, tmp_path: Path, home: Path) -> None:
    safe = tmp_path / "keyring.json"
    async with vendor_spawn(config=MODEL, capabilities=URLS, env=keyring_environment(safe)) as editor:
        await editor.initialize()
        Person(editor, KEY)
        assert await editor.request("authenticate", LOGIN) == {}
        assert list(json.loads(safe.read_text()).values()) == [KEY]
        assert "key" not in kept(home)["openai"]
        assert await editor.request("logout", {}) == {}
        assert json.loads(safe.read_text()) == {}


# ------------------------------------------------------------------ forms and words


async def test_a_form_asks_for_no_secret_and_says_what_to_do(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config='model = "anthropic/claude-x"\n', capabilities=FORMS) as editor:
        await editor.initialize()
        asked: list[Json] = []

        def answer(params: Json) -> Json:
            asked.append(params)
            return {"action": "accept", "content": {"provider": "openai"}}

        editor.serve("elicitation/create", answer)
        call = await editor.start("authenticate", LOGIN)
        refused = await call.failure()
    assert refused.code == -32000
    assert refused.message.startswith("OpenAI needs a key: run `claw-acp login openai` in a terminal")
    assert "set OPENAI_API_KEY" in refused.message
    (form,) = asked
    assert (form["mode"], form["requestId"]) == ("form", call.id)
    assert list(form["requestedSchema"]["properties"]) == ["provider"]
    assert form["requestedSchema"]["properties"]["provider"]["default"] == "anthropic"


async def test_a_form_lets_whoever_has_no_model_stay_with_the_offline_assistant(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(capabilities=FORMS) as editor:
        await editor.initialize()
        editor.serve("elicitation/create", lambda _: {"action": "accept", "content": {"provider": "offline"}})
        assert await editor.request("authenticate", LOGIN) == {}
        await editor.new_session()


@pytest.mark.case(42)
async def test_a_client_that_can_ask_nothing_is_told_everything(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config=MODEL) as editor:
        await editor.initialize()
        refused = await editor.failing("authenticate", LOGIN)
        assert refused.code == -32000
        for way in ("claw-acp login openai", "OPENAI_API_KEY", "api_key under [providers.openai] in config.toml"):
            assert way in refused.message
        assert editor.received("elicitation/create") == []


# ------------------------------------------------------------------ methods


@pytest.mark.case(42)
@pytest.mark.rule("auth.terminal-gated", "auth.terminal-not-callable", "auth.unknown-method", "kit1.auth")
@pytest.mark.parametrize("auth", [{"terminal": True}, {"terminal": "yes"}, {}, None])
async def test_a_terminal_is_offered_only_to_who_has_one_and_is_never_called(spawn: Spawn, auth: Json | None) -> None:
    async with spawn(capabilities={"auth": auth}) as editor:
        methods = (await editor.initialize())["authMethods"]
        offered = {method["id"]: method.get("type", "agent") for method in methods}
        able = auth == {"terminal": True}
        assert offered == {"api-key": "agent"} | ({"login": "terminal"} if able else {})
        if able:
            assert methods[-1]["args"] == ["login"]
        for wrong in ("login", "", "nobody"):
            refused = await editor.failing("authenticate", {"methodId": wrong})
            assert (refused.code, "'api-key'" in refused.message) == (-32602, True)


async def test_the_older_way_to_offer_a_terminal_names_the_whole_command(vendor_spawn: Spawn, home: Path) -> None:
    meta: Json = {"_meta": {"terminal-auth": True}}
    async with vendor_spawn(config=MODEL, capabilities={**meta, **URLS}) as editor:
        method = (await editor.initialize())["authMethods"][-1]
        assert (method["id"], "type" in method) == ("login", False)
        command = method["_meta"]["terminal-auth"]
        assert command["args"] == ["-m", "claw_acp", "login"]
        assert command["command"] == forked_python()
        refused = await editor.failing("authenticate", {"methodId": "login"})
        assert (refused.code, editor.received("elicitation/create")) == (-32000, [])
        (home / "claw" / "credentials.toml").write_text(f'[openai]\nkey = "{KEY}"\n')
        (home / "claw" / "credentials.toml").chmod(0o600)
        assert await editor.request("authenticate", {"methodId": "login"}) == {}


# ------------------------------------------------------------------ logging out


@pytest.mark.rule("auth.logout", "kit1.auth")
async def test_logging_out_forgets_the_login_on_disk_and_in_this_process(
    vendor_spawn: Spawn, server: ModelServer, home: Path
) -> None:
    async with vendor_spawn(config=MODEL, capabilities=URLS) as editor:
        await editor.initialize()
        Person(editor, KEY)
        await editor.request("authenticate", LOGIN)
        await editor.new_session()
        server.will_say("yes")
        await editor.prompt("hi")
        await editor.request("auth/status", {})
        assert await editor.request("logout", {}) == {}
        assert [news["params"] for news in editor.received("auth/status_update")] == [{"state": "unauthenticated"}]
        assert not (home / "claw" / "credentials.toml").exists()
        assert (await (await editor.start_prompt("hi")).failure()).code == -32000
        assert (await editor.failing("session/new", session(editor))).code == -32000
        assert await editor.request("logout", {}) == {}
    assert len([request for request in server.requests if request.method == "POST"]) == 1


async def test_a_key_in_the_environment_stays_and_the_answer_says_so(vendor_spawn: Spawn) -> None:
    async with vendor_spawn(config=MODEL, env={"OPENAI_API_KEY": KEY}) as editor:
        await editor.initialize()
        answer = await editor.request("logout", {})
        assert answer == {"_meta": {"claw-acp/keysThatStay": ["openai: OPENAI_API_KEY"]}}
        await editor.new_session()


async def test_the_offline_assistant_needs_nobody_to_log_in(spawn: Spawn) -> None:
    async with spawn(config='model = "offline/assistant"\n', env=NO_KEYRING, capabilities=URLS) as editor:
        await editor.initialize()
        assert await editor.request("logout", {}) == {}
        assert await editor.request("authenticate", LOGIN) == {}
        assert await editor.request("auth/status", {}) == {"state": "not_required"}
        await editor.new_session()
        assert editor.received("elicitation/create") == []


# ------------------------------------------------------------------ what nobody may see


async def test_a_key_is_in_no_frame_log_journal_or_trace(
    vendor_spawn: Spawn, server: ModelServer, home: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.jsonl"
    env = {"CLAW_ACP_TRACE": str(trace), "CLAW_ACP_LOG": "debug"}
    async with vendor_spawn(config=MODEL, capabilities=URLS, env=env) as editor:
        await editor.initialize()
        Person(editor, WRONG, KEY)
        await editor.request("authenticate", LOGIN)
        await editor.new_session()
        server.will_say(f"your key is {KEY}, is it not?")
        await editor.prompt("hi")
        await editor.request("providers/list", {})
        headers = {"X-Corp": "opaque-tenant-0123456789", "Authorization": "Bearer tok-hush-0123456789"}
        route = {"providerId": "openai", "apiType": "openai", "baseUrl": server.openai_url, "headers": headers}
        await editor.request("providers/set", route)
        await (await editor.start_prompt("hi")).failure()
        await editor.request("auth/status", {})
        said = json.dumps([message for message in editor.received() if "session/update" not in str(message)])
    written = [path for path in (home / "claw").rglob("*") if path.is_file() and path.name != "credentials.toml"]
    texts = {path.name: path.read_bytes().decode("utf-8", "replace") for path in [*written, trace]}
    texts |= {"stderr": editor.process.stderr(), "frames": said}
    assert trace.name in texts
    for secret in (WRONG, KEY, "tok-hush-0123456789", "opaque-tenant-0123456789"):
        allowed = {"claw.db", "claw.db-wal", trace.name} if secret == KEY else set[str]()  # what the model itself said
        assert [name for name, text in texts.items() if secret in text and name not in allowed] == []


# ------------------------------------------------------------------ keyrings that do not answer


async def test_a_prompt_that_waits_for_a_keyring_can_be_cancelled_and_holds_nobody_up(
    spawn: Spawn, tmp_path: Path, home: Path
) -> None:
    (home / "claw").mkdir(mode=0o700)
    (home / "claw" / "credentials.toml").write_text('[openai]\nkeyring = "openai"\n')
    (home / "claw" / "credentials.toml").chmod(0o600)
    async with spawn(env=keyring_environment(tmp_path / "none.json", mood="hangs")) as editor:
        await editor.initialize()
        await editor.new_session()
        call = await editor.start_prompt("hi")
        assert await editor.request("session/list", {})
        await editor.cancel()
        assert (await call.outcome()).stop_reason == "cancelled"

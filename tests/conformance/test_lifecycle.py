"""`initialize`, `authenticate` and what a connection may do before and after."""

from typing import Any

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, say, turn

NOT_A_VERSION: tuple[Any, ...] = ("1", 1.5, True, -1, 65536, None, [1], {})


@pytest.mark.rule("initialize.version", "initialize.agent-info", "kit1.init")
@pytest.mark.case(16)
@pytest.mark.parametrize("version", [0, 1, 2, 65535])
async def test_any_version_number_is_answered_with_the_one_spoken_here(spawn: Spawn, version: int) -> None:
    async with spawn(config="protocol_2 = false") as editor:
        assert (await editor.initialize(protocolVersion=version))["protocolVersion"] == 1


@pytest.mark.rule("initialize.version-type")
@pytest.mark.case(16, 19)
async def test_a_version_that_is_no_number_is_refused_and_the_next_attempt_counts(spawn: Spawn) -> None:
    async with spawn() as editor:
        for version in NOT_A_VERSION:
            failure = await editor.failing("initialize", {"protocolVersion": version})
            assert (failure.code, "protocolVersion" in failure.message) == (-32602, True)
        assert (await editor.failing("initialize", {})).code == -32602
        assert (await editor.failing("initialize")).code == -32602
        assert (await editor.initialize())["protocolVersion"] == 1


@pytest.mark.rule("envelope.lenient")
@pytest.mark.case(17, 18)
async def test_capabilities_that_make_no_sense_count_as_absent(spawn: Spawn) -> None:
    script = Script(turn({"call": {"name": "read_file", "arguments": {"path": "a.txt"}}}), turn(say("read")))
    nonsense = {
        "fs": {"readTextFile": "yes", "writeTextFile": 1, "chmod": True},
        "terminal": "true",
        "session": ["notices"],
        "auth": 7,
        "teleport": {"enabled": True},
    }
    async with spawn(script=script, capabilities=nonsense) as editor:
        await editor.initialize(clientInfo="Zed", shoeSize=43)
        await editor.new_session(colour="green")
        outcome = await editor.prompt("read it")
    assert outcome.text == "read"
    assert editor.files.reads == []


@pytest.mark.rule("initialize.first")
@pytest.mark.case(19)
async def test_before_initialize_requests_are_refused_and_notifications_ignored(spawn: Spawn) -> None:
    async with spawn() as editor:
        for method in ("session/new", "session/list", "session/prompt", "authenticate", "session/teleport"):
            assert (await editor.failing(method, {})).code == -32600
        await editor.notify("session/cancel", {"sessionId": "ses_none"})
        await editor.initialize()
        assert len(editor.received()) == 6


@pytest.mark.case(19)
async def test_a_second_initialize_is_refused_and_changes_nothing(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        assert (await editor.failing("initialize", {"protocolVersion": 1})).code == -32600
        assert (await editor.request("session/list", {})) == {"sessions": []}


@pytest.mark.rule("kit1.auth")
@pytest.mark.case(42)
async def test_the_login_is_an_agent_method_and_others_are_refused(spawn: Spawn) -> None:
    async with spawn(script=Script(turn())) as editor:
        methods = (await editor.initialize())["authMethods"]
        assert [method.get("type", "agent") for method in methods] == ["agent"]
        assert await editor.request("authenticate", {"methodId": methods[0]["id"]}) == {}
        for wrong in ("terminal", "", "nobody"):
            assert (await editor.failing("authenticate", {"methodId": wrong})).code == -32602


@pytest.mark.case(42)
async def test_missing_credentials_are_told_early_and_say_what_to_set(spawn: Spawn) -> None:
    async with spawn(config='model = "anthropic/claude-sonnet-4-5"\n') as editor:
        await editor.initialize()
        refused = await editor.failing("session/new", {"cwd": str(editor.project), "mcpServers": []})
        login = await editor.failing("authenticate", {"methodId": "api-key"})
    assert (refused.code, login.code) == (-32000, -32000)
    assert "ANTHROPIC_API_KEY" in refused.message
    assert "ANTHROPIC_API_KEY" in login.message


@pytest.mark.rule("extension.meta", "envelope.no-extra-root-fields", "kit1.meta", "kit1.schema")
@pytest.mark.case(43)
async def test_meta_is_welcome_everywhere_and_comes_back_nowhere(spawn: Spawn) -> None:
    script = Script(turn(say("ok")), loop=True)
    meta = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "mine": [1]}
    async with spawn(script=script) as editor:
        await editor.initialize(_meta=meta)
        await editor.new_session(_meta=None)
        block = {"type": "text", "text": "hi", "_meta": meta, "annotations": {"_meta": None}}
        params = {"sessionId": editor.session, "prompt": [block], "_meta": meta}
        assert (await editor.request("session/prompt", params))["stopReason"] == "end_turn"
        await editor.request("session/list", {"_meta": meta})
        await editor.notify("session/cancel", {"sessionId": editor.session, "_meta": meta})
        assert (await editor.request("session/close", {"sessionId": editor.session, "_meta": meta})) == {}
    assert "traceparent" not in str(editor.received())


@pytest.mark.rule("envelope.unknown-method", "envelope.unknown-notification", "extension.unknown", "kit1.ext")
@pytest.mark.case(44)
async def test_unknown_requests_are_refused_by_name_and_unknown_notifications_ignored(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        for method in ("_vendor/thing", "session/teleport", "fs/read_text_file", "session/update", ""):
            failure = await editor.failing(method, {"x": 1})
            assert (failure.code, method in failure.message) == (-32601, True)
        before = len(editor.received())
        for method in ("_vendor/thing", "$/progress", "session/teleport", "session/prompt"):
            await editor.notify(method, {"x": 1})
        await editor.request("session/list", {})
        assert len(editor.received()) == before + 1


@pytest.mark.case(18, 41)
async def test_methods_that_are_not_offered_are_not_served(spawn: Spawn) -> None:
    async with spawn() as editor:
        capabilities = (await editor.initialize())["agentCapabilities"]
        assert not {"nes", "positionEncoding"} & set(capabilities)
        for method in ("nes/start", "session/set_model", "proxy/initialize"):
            assert (await editor.failing(method, {})).code == -32601

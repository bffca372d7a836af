"""The official Python SDK drives the program: what is newer, as far as this SDK knows it."""

import sys
from collections.abc import Mapping
from typing import Any

import pytest
from acp import RequestError
from acp.schema import (
    AgentPlanContentUpdate,
    AgentPlanRemovedUpdate,
    AuthCapabilities,
    BooleanConfigOptionCapabilities,
    ClientSessionCapabilities,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    ElicitationFormSessionMode,
    ElicitationMode,
    ElicitationUrlCapabilities,
    ElicitationUrlRequestMode,
    McpServerStdio,
    PlanCapabilities,
    PlanUpdateItems,
    SessionConfigOptionBoolean,
    SessionConfigOptionsCapabilities,
    TerminalAuthMethod,
)
from anyio import to_thread

from tests.mcp.support import RAW_SERVER
from tests.support.editors.browser import send_form, visit
from tests.support.file_keyring import NO_KEYRING
from tests.support.foreign.desk import Desk
from tests.support.foreign.editor import answering
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.servers.model_server import ModelServer
from tests.support.servers.vendors_here import PROGRAM, vendors_here

KEY = "sk-right-0123456789abcdef"
SWITCHES = ClientSessionCapabilities(
    config_options=SessionConfigOptionsCapabilities(boolean=BooleanConfigOptionCapabilities())
)
FORMS = ElicitationCapabilities(form=ElicitationFormCapabilities())
URLS = ElicitationCapabilities(url=ElicitationUrlCapabilities())


@pytest.mark.rule("config.boolean-gated")
async def test_a_switch_is_a_switch_for_who_knows_them(desk: Desk) -> None:
    desk.plays(Script())
    async with desk.editor(offers={"session": SWITCHES}) as editor:
        created = await editor.agent.new_session(cwd=str(desk.project))
        (web,) = [option for option in created.config_options or () if option.id == "web"]
        assert isinstance(web, SessionConfigOptionBoolean)
        session = created.session_id
        answer = await editor.agent.set_config_option(config_id="web", session_id=session, value=not web.current_value)
        (after,) = [option for option in answer.config_options if option.id == "web"]
        assert after.current_value is not web.current_value
        with pytest.raises(RequestError) as refusal:
            await editor.agent.set_config_option(config_id="mode", session_id=session, value=True)
        assert refusal.value.code == -32602


@pytest.mark.rule("elicitation.gated")
async def test_questions_of_the_agent_are_a_form(desk: Desk) -> None:
    questions = [
        {"question": "Name?"},
        {"question": "Which?", "kind": "choice", "options": [{"label": "red"}, {"label": "blue"}]},
    ]
    script = Script(
        turn(call("ask_user", questions=questions)), turn(expect("- Name? → Claw\n- Which? → blue"), say("Hm."))
    )
    desk.plays(script)
    asked: list[ElicitationMode] = []

    async def fill_in(mode: ElicitationMode) -> Mapping[str, Any]:
        asked.append(mode)
        return {"answer_1": "Claw", "answer_2": "blue"}

    async with desk.editor(offers={"elicitation": FORMS}, fill_in=fill_in) as editor:
        session = await editor.open()
        await editor.prompt(session, "Ask me")
        assert editor.said(session) == "Hm."
        (form,) = asked
        assert isinstance(form, ElicitationFormSessionMode)
        assert form.tool_call_id == editor.tool(session).tool_call_id
        assert list(form.requested_schema.properties or {}) == ["answer_1", "answer_2", "remark"]


@pytest.mark.rule("plan.operations-gated")
async def test_a_plan_is_changed_and_removed(desk: Desk) -> None:
    steps = [{"content": "look", "priority": "high", "status": "pending"}]
    desk.plays(Script(turn(call("plan", entries=steps)), turn(call("plan", entries=[])), turn(say("Done."))))
    async with desk.editor(offers={"plan": PlanCapabilities()}) as editor:
        session = await editor.open()
        await editor.prompt(session, "Plan")
        (changed,) = [update for update in editor.of(session) if isinstance(update, AgentPlanContentUpdate)]
        (removed,) = [update for update in editor.of(session) if isinstance(update, AgentPlanRemovedUpdate)]
        assert isinstance(changed.plan, PlanUpdateItems)
        assert [entry.content for entry in changed.plan.entries] == ["look"]
        assert changed.plan.plan_id == removed.plan_id


@pytest.mark.rule("session.fork")
async def test_a_copy_of_a_session_has_its_history_and_goes_its_own_way(desk: Desk) -> None:
    desk.plays(Script(turn(say("First.")), turn(say("Second."))))
    async with desk.editor(offers={}) as editor:
        session = await editor.open()
        await editor.prompt(session, "One")
        copy = await editor.agent.fork_session(session_id=session, cwd=str(desk.project))
        assert copy.modes is not None
        await editor.prompt(copy.session_id, "Two")
        assert editor.said(copy.session_id) == "Second."
        await editor.agent.load_session(cwd=str(desk.project), session_id=copy.session_id)
        assert editor.asked(copy.session_id) == "OneTwo"
        assert editor.asked(session) == ""


@pytest.mark.rule("session.mcp-stdio")
async def test_the_tools_of_a_server_that_the_client_names_can_be_used(desk: Desk) -> None:
    desk.plays(Script(turn(call("raw__echo", text="hi")), turn(expect("hi"), say("It says hi."))))
    server = McpServerStdio(name="raw", command=sys.executable, args=[str(RAW_SERVER), "{}"], env=[])
    async with desk.editor(answering("allow_once")) as editor:
        session = (await editor.agent.new_session(cwd=str(desk.project), mcp_servers=[server])).session_id
        await editor.until(lambda: "raw:ready" in str(editor.of(session)))
        await editor.prompt(session, "Use it")
        assert (editor.tool(session).title, editor.tool(session).status) == ("raw: echo", "completed")
        assert editor.said(session) == "It says hi."


@pytest.mark.case(42)
@pytest.mark.rule("auth.required", "auth.terminal-gated")
async def test_a_login_by_a_page_opens_the_way(desk: Desk) -> None:
    async with ModelServer() as server:
        server.serves_only(KEY)
        server.will_say("Hello.")
        desk.env.update({**NO_KEYRING, **vendors_here(server.port)})
        (desk.claw / "config.toml").write_text('model = "openai/test-model"\n', encoding="utf-8")

        async def fill_in(mode: ElicitationMode) -> Mapping[str, Any]:
            assert isinstance(mode, ElicitationUrlRequestMode)
            page = await to_thread.run_sync(visit, str(mode.url))
            await to_thread.run_sync(lambda: send_form(page, key=KEY))
            return {}

        offers = {"elicitation": URLS, "auth": AuthCapabilities(terminal=True)}
        async with desk.editor(offers=offers, fill_in=fill_in, python=PROGRAM) as editor:
            by_terminal = [
                method for method in editor.hello.auth_methods or () if isinstance(method, TerminalAuthMethod)
            ]
            assert [(method.id, method.args) for method in by_terminal] == [("login", ["login"])]
            with pytest.raises(RequestError) as refusal:
                await editor.open()
            assert refusal.value.code == -32000
            await editor.agent.authenticate("api-key")
            await editor.until(lambda: len(editor.completed) == 1)
            session = await editor.open()
            await editor.prompt(session, "Hi")
            assert editor.said(session) == "Hello."

"""Rights that a client has, and how it tries to get more."""

from pathlib import Path

from tests.gateway.attacks.conftest import Serve, calling, chatting, token_for
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, hold, say, turn

WRITES = Script(turn(call("write_file", path="new.txt", content="hello")), turn(say("that is all")), loop=True)


async def test_a_chat_cannot_widen_the_mode_by_a_command(serve: Serve, project: Path) -> None:
    async with serve(script=WRITES) as gateway, chatting(gateway, token_for(gateway, "chat")) as chat:
        await chat.send(type="message", message="/mode auto", cwd=str(project))
        done = await chat.up_to("done")
        assert "Nothing changed" in done["text"]
        await chat.send(type="message", message="write", session=done["session"])
        await chat.up_to("permission")
    assert not (project / "new.txt").exists()


async def test_the_owner_may_widen_the_mode_in_a_chat(serve: Serve, project: Path) -> None:
    async with serve(script=WRITES) as gateway, chatting(gateway) as chat:
        await chat.send(type="message", message="/mode auto", cwd=str(project))
        assert "is now" in (await chat.up_to("done"))["text"]


async def test_a_prompt_that_waited_while_the_mode_was_widened_is_refused(serve: Serve, project: Path) -> None:
    script = Script(turn(say("first"), hold("gate")), turn(call("write_file", path="new.txt", content="hello")))
    async with (
        serve(script=script) as gateway,
        chatting(gateway) as owner,
        chatting(gateway, token_for(gateway, "chat")) as guest,
    ):
        await owner.send(type="message", message="wait", cwd=str(project))
        session = (await owner.up_to("session"))["session"]
        await owner.up_to("chunk")
        await guest.send(type="message", message="write", session=session)
        await guest.up_to("session")
        live = (await gateway.engine()).sessions.look_at(session)
        assert live is not None
        await eventually(lambda: len(live.turns) == 2, what="a prompt that waits")
        await live.session.change(mode="auto")
        script.let_go("gate")
        assert "wider" in (await guest.up_to("error", "done"))["message"]
    assert not (project / "new.txt").exists()


async def test_a_client_of_the_control_interface_hands_on_no_more_than_it_has(serve: Serve) -> None:
    async with serve() as gateway:
        async with calling(gateway, token_for(gateway, "control", name="script")) as ask:
            for scopes in (["attach"], ["chat", "read"], ["control", "attach"]):
                assert (await ask("pairing/begin", scopes=scopes))["code"] == -31040, scopes
            assert len((await ask("pairing/begin", scopes=["control", "read"]))["code"]) == 8
        async with calling(gateway, token_for(gateway, "control", name="for a day", lifetime=86_400)) as ask:
            assert (await ask("pairing/begin", scopes=["read"]))["code"] == -31040
            assert (await ask("pairing/begin", scopes=["read"], lifetimeSeconds=90_000))["code"] == -31040
            assert len((await ask("pairing/begin", scopes=["read"], lifetimeSeconds=3600))["code"]) == 8
        async with calling(gateway) as ask:
            assert len((await ask("pairing/begin", scopes=["attach"]))["code"]) == 8

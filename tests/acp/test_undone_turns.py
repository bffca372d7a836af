"""A turn that was undone: gone from what the model gets and from what clients are shown again."""

from pathlib import Path

from claw_acp.core.events import TurnRewound
from tests.acp2.test_both import in_1, in_2
from tests.support.editors.shared_house import SharedHouse
from tests.support.foreign.models import conversation
from tests.support.script_files import Script
from tests.support.servers.model_replies import Call, Say
from tests.support.servers.model_server import ModelServer

READ = Call(name="read_file", arguments={"path": "a.txt"}, id="v1")


async def test_an_undone_turn_is_in_no_request_and_no_replay(project: Path, home: Path) -> None:
    async with ModelServer() as server:
        env = {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": server.openai_url}
        config = 'model = "openai/test-model"'
        async with SharedHouse.opened(project=project, home=home, script=Script(), config=config, env=env) as house:
            ada, bob, eve = await house.visit(), await house.visit(), await house.visit_2()
            await ada.new_session()
            plan = Call(name="plan", arguments={"entries": [{"content": "x", "priority": "low", "status": "pending"}]})
            server.will_reply(Say(text=("first",), calls=(plan,)), Say(text=(" answer",)))
            await ada.prompt("one")
            server.will_reply(Say(text=("second",), calls=(READ,)), Say(text=(" answer",)))
            await ada.prompt("two")
            session = await house.session(ada.session)
            await session.publish(TurnRewound(item=session.history.turns.spans[-1].id))
            server.will_say("third answer")
            await ada.prompt("three")
            heard = [message["content"] for message in conversation(server.requests[-1]) if message["role"] == "user"]
            assert heard == ["one", "three"]
            _, in_protocol_1 = await bob.load(ada.session)
            _, in_protocol_2 = await eve.resume(ada.session, replay=True)
    for shown in (in_1(in_protocol_1), in_2(in_protocol_2)):
        assert list(shown["users"].values()) == ["one", "three"]
        assert shown["said"] == "first answerthird answer"
        assert [call["name"] for call in shown["calls"].values()] == ["plan"]

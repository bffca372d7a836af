"""Questions in a session that several editors have open."""

from pathlib import Path

import pytest

from tests.support.editors.exchange import tool_calls
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, call, say, turn


@pytest.mark.parametrize("who", ["ada", "bob"])
async def test_whoever_answers_a_question_first_answers_it_for_everybody(project: Path, home: Path, who: str) -> None:
    script = Script(turn(call("shell", command="touch made")), turn(say("done")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        guests = {"ada": await house.visit(), "bob": await house.visit()}
        ada, bob = guests.values()
        await ada.new_session()
        await bob.request("session/resume", {"sessionId": ada.session, "cwd": str(project), "mcpServers": []})
        for guest in guests.values():
            guest.will_answer(None)
        prompt = await ada.start_prompt("go")
        questions = {name: await guest.wait_for_question() for name, guest in guests.items()}
        await guests[who].answer(questions[who], "allow_once")
        assert (await prompt.outcome()).text == "done"
        assert (project / "made").exists()
        [slow] = [guest for name, guest in guests.items() if name != who]
        [withdrawn] = slow.received("$/cancel_request")
        assert withdrawn["params"]["requestId"] == slow.questions[0].id
        assert guests[who].received("$/cancel_request") == []


@pytest.mark.parametrize("method", ["load", "resume"])
async def test_an_editor_that_joins_while_a_question_is_open_is_asked_too(
    project: Path, home: Path, method: str
) -> None:
    script = Script(turn(call("shell", command="touch made")), turn(say("done")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        for guest in (ada, bob):
            guest.will_answer(None)
        prompt = await ada.start_prompt("go")
        await ada.wait_for_question()
        await bob.request(f"session/{method}", {"sessionId": ada.session, "cwd": str(project), "mcpServers": []})
        question = await bob.wait_for_question()
        assert question.params["toolCall"]["toolCallId"] in tool_calls(bob.updates())
        await bob.answer(question, "allow_once")
        assert (await prompt.outcome()).text == "done"
        assert (project / "made").exists()
        assert [each["params"]["requestId"] for each in ada.received("$/cancel_request")] == [ada.questions[0].id]


async def test_an_editor_of_protocol_2_that_joins_while_a_question_is_open_is_asked_too(
    project: Path, home: Path
) -> None:
    script = Script(turn(call("shell", command="touch made")), turn(say("done")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        ada, bob = await house.visit(), await house.visit_2()
        await ada.new_session()
        for guest in (ada, bob):
            guest.will_answer(None)
        prompt = await ada.start_prompt("go")
        await ada.wait_for_question()
        await bob.request("session/resume", {"sessionId": ada.session, "cwd": str(project), "mcpServers": []})
        await bob.answer(await bob.wait_for_question(), "allow_once")
        assert (await prompt.outcome()).text == "done"


async def test_a_question_stays_open_for_the_others_when_one_who_was_asked_leaves(project: Path, home: Path) -> None:
    script = Script(turn(call("shell", command="touch made")), turn(say("done")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        ada, bob = await house.visit(), await house.visit()
        await ada.new_session()
        await bob.request("session/resume", {"sessionId": ada.session, "cwd": str(project), "mcpServers": []})
        for guest in (ada, bob):
            guest.will_answer(None)
        prompt = await ada.start_prompt("go")
        question = await ada.wait_for_question()
        await bob.wait_for_question()
        await bob.leave()
        await ada.answer(question, "allow_once")
        assert (await prompt.outcome()).text == "done"
        assert (project / "made").exists()

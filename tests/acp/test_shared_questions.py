"""Questions in a session that several editors have open."""

from pathlib import Path

import pytest

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

"""Large results of tool calls: the model sees a part, and reads the rest from a private file."""

import os
import re
from pathlib import Path

import pytest

from claw_acp.agent.large_results import KEPT, LARGEST, MOST_STORED, SHOWN, LargeResults
from claw_acp.core.messages import ContentPart, ImagePart, ResourcePart, TextPart
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import shown_text
from tests.support.editors.shared_house import SharedHouse
from tests.support.fixed_clock import FixedClock
from tests.support.script_files import Script, call, say, turn
from tests.support.servers.model_replies import Call
from tests.support.servers.model_server import ModelServer

PICTURE = ImagePart(data="AAAA", mime_type="image/png")
NUMBERS = "\n".join(f"number {n}" for n in range(20_000))


def results(folder: Path, *, session: str = "ses_1") -> LargeResults:
    return LargeResults(folder, session=session, clock=FixedClock(now=folder.stat().st_mtime))


def stored_in(parts: tuple[ContentPart, ...]) -> Path:
    assert isinstance(parts[0], TextPart)
    found = re.search(r"stored in (\S+) \(", parts[0].text)
    assert found is not None
    return Path(found[1])


async def test_a_result_up_to_the_limit_stays_as_it_is(tmp_path: Path) -> None:
    parts = (TextPart(text="x" * LARGEST), PICTURE)
    assert await results(tmp_path).shortened(parts) == parts
    assert not [*os.scandir(tmp_path)]


async def test_of_a_large_result_the_model_sees_both_ends_and_where_the_whole_is(tmp_path: Path) -> None:
    parts = await results(tmp_path).shortened((TextPart(text=NUMBERS), PICTURE))
    file = stored_in(parts)
    assert isinstance(parts[0], TextPart)
    assert parts[0].text.startswith("number 0\nnumber 1\n")
    assert "number 19999\n" in parts[0].text
    assert len(parts[0].text) < SHOWN + 500
    assert parts[1] == PICTURE
    assert file.read_text() == NUMBERS
    assert [oct(place.stat().st_mode & 0o777) for place in (file, file.parent)] == ["0o600", "0o700"]


@pytest.mark.parametrize("text", ["x" * 50_000, "a\0b" * 20_000, "\ud800" * 40_000, "\r\n" * 40_000], ids=ascii)
async def test_any_text_becomes_a_file_of_lines_that_can_be_read(tmp_path: Path, text: str) -> None:
    file = stored_in(await results(tmp_path).shortened((ResourcePart(uri="x:y", text=text),)))
    content = file.read_bytes().decode()
    assert "\0" not in content
    assert max(map(len, content.split("\n"))) <= 2_000


async def test_the_same_result_is_stored_once_and_a_full_folder_loses_its_oldest(tmp_path: Path) -> None:
    kept = results(tmp_path)
    first = stored_in(await kept.shortened((TextPart(text=NUMBERS),)))
    assert stored_in(await kept.shortened((TextPart(text=NUMBERS),))) == first
    os.utime(first, (1, 1))
    (first.parent / "filler.txt").write_bytes(b"x" * (MOST_STORED - 300_000))
    await kept.shortened((TextPart(text=NUMBERS + "more"),))
    assert not first.exists()
    assert sum(file.stat().st_size for file in first.parent.iterdir()) <= MOST_STORED


async def test_folders_that_nobody_used_for_long_are_swept(tmp_path: Path) -> None:
    old = stored_in(await results(tmp_path, session="ses_old").shortened((TextPart(text=NUMBERS),)))
    before = old.stat().st_mtime - KEPT - 60
    os.utime(old.parent, (before, before))
    new = stored_in(await results(tmp_path, session="ses_new").shortened((TextPart(text=NUMBERS),)))
    assert (old.exists(), new.exists()) == (False, True)


async def test_a_folder_that_cannot_be_written_costs_the_middle_of_the_result_only(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    parts = await LargeResults(tmp_path / "results", session="s", clock=FixedClock()).shortened(
        (TextPart(text=NUMBERS),)
    )
    assert isinstance(parts[0], TextPart)
    assert parts[0].text.startswith("number 0\n")
    assert "left out here" in parts[0].text


SECRET = "sk-ant-api03-REDACTME-0123456789abcdefghijklmnop"  # a made-up key


async def test_the_whole_output_is_stored_without_credentials_and_goes_with_the_session(
    project: Path, home: Path
) -> None:
    (project / "print.sh").write_text(f"seq -f 'number %.0f' 9999\necho {SECRET}\nseq -f 'number %.0f' 20000\n")
    script = Script(turn(call("shell", command="bash print.sh")), turn(say("seen")))
    async with SharedHouse.opened(project=project, home=home, script=script, config='mode = "auto"') as house:
        guest = await house.visit()
        await guest.new_session()
        await guest.prompt("go")
        session = await house.session(guest.session)
        file = stored_in(next(message for message in session.history.messages() if message.role == "tool").parts)
        assert SECRET not in file.read_text()
        assert file.read_text().splitlines()[9998:10_000:2] == ["number 9999"]
        assert file.read_text().splitlines()[10_000] == "number 1"
        await guest.request("session/delete", {"sessionId": guest.session})
        assert not file.exists()


async def test_no_search_comes_across_the_results_of_another_session(home: Path) -> None:
    folder = home / "claw" / "results" / "ses_of_another"
    folder.mkdir(parents=True)
    (folder / "0123456789abcdef.txt").write_text("first\nsecond\n")
    script = Script(turn(call("grep", pattern="second"), call("glob", pattern="**/*.txt")), turn(say("done")))
    async with SharedHouse.opened(project=home, home=home, script=script, config='mode = "auto"') as house:
        guest = await house.visit()
        guest.will_answer("allow_once")
        await guest.new_session()
        outcome = await guest.prompt("go")
        assert "0123456789abcdef" not in str(outcome.updates)
        assert "second" not in shown_text(outcome.calls[0]).replace("matches second", "")


async def test_a_result_of_the_session_is_searched(project: Path, home: Path) -> None:
    async with ModelServer() as server:
        config = f'mode = "auto"\n[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\nmodels = ["m"]'
        env = {"CLAW_ACP_MODEL": "work/m"}
        async with SharedHouse.opened(project=project, home=home, script=Script(), config=config, env=env) as house:
            guest = await house.visit()
            await guest.new_session()
            server.will_say(calls=[Call(name="shell", arguments={"command": "seq -f 'number %.0f' 20000"})])
            server.will_say("seen")
            await guest.prompt("go")
            messages = (await house.session(guest.session)).history.messages()
            file = stored_in(next(message for message in messages if message.role == "tool").parts)
            server.will_say(calls=[Call(name="grep", arguments={"path": str(file), "pattern": "number 9999$"})])
            server.will_say("found")
            outcome = await guest.prompt("search")
        assert "number 9999" in shown_text(outcome.calls[0])
        assert outcome.calls[0]["status"] == "completed"


async def test_results_are_open_to_reading_and_to_nothing_else(opened: Spawn, home: Path) -> None:
    folder = home / "claw" / "results" / "ses_of_another"
    folder.mkdir(parents=True)
    file = folder / "0123456789abcdef0123456789abcdef.txt"
    file.write_text("first\nsecond\n")
    calls = (
        call("read_file", path=str(file), line=2),
        call("read_file", path=str(home / "claw" / "config.toml")),
        call("grep", path=str(folder), pattern="first"),
        call("list_files", path=str(folder)),
        call("shell", command=f"cat {file}"),
        call("write_file", path=str(file), content="gone"),
    )
    async with opened(script=Script(turn(*calls), turn(say("done"))), config='mode = "auto"') as editor:
        outcome = await editor.prompt("go")
    shown = [(tool["status"], shown_text(tool)) for tool in outcome.calls]
    assert [status for status, _ in shown] == ["completed"] + ["failed"] * 5
    assert "second" in shown[0][1]
    assert file.read_text() == "first\nsecond\n"

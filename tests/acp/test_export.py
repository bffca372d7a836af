"""`/export` writes new files of the project, and nothing else."""

from pathlib import Path

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, say, turn

TALK = Script(turn(say("an answer")))
ELSEWHERE = ("../out.md", "{project}/../out.md", "a.txt", "link.md", "no/such/folder/x.md", "nul\0.md", ".")


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_new_file_of_the_project_gets_the_conversation(opened: Spawn, project: Path) -> None:
    (project / "sub").mkdir()
    async with opened(script=TALK) as editor:
        await editor.prompt("a question")
        for argument, name in (("one.md", "one.md"), ("sub/../two.md", "two.md"), (f"{project}/three.md", "three.md")):
            assert (await editor.prompt(f"/export {argument}")).text == f"Saved to `{project / name}`."
            text = (project / name).read_text()
            assert "a question" in text
            assert "an answer" in text


async def test_anywhere_else_nothing_is_written_and_one_sentence_says_so(opened: Spawn, project: Path) -> None:
    (project / "link.md").symlink_to(project.parent / "out.md")
    async with opened(script=TALK) as editor:
        for argument in ELSEWHERE:
            outcome = await editor.prompt(f"/export {argument.format(project=project)}")
            assert outcome.stop_reason == "end_turn", argument
            assert outcome.text.startswith("Nothing was saved: "), argument
            assert outcome.text.endswith("."), argument
    assert not (project.parent / "out.md").exists()
    assert _files(project) == ["a.txt", "link.md"]
    assert (project / "a.txt").read_text() == "hello\n"


async def test_in_plan_mode_nothing_is_written(opened: Spawn, project: Path) -> None:
    async with opened(script=TALK, config='mode = "plan"') as editor:
        outcome = await editor.prompt("/export talk.md")
        assert outcome.text.startswith("Nothing was saved: ")
    assert _files(project) == ["a.txt"]

from pathlib import Path

import pytest

from claw_acp.commands.prompt_file import LARGEST, BadPromptFile, PromptFile, read_prompt_file


def _command(text: str) -> PromptFile:
    return PromptFile(name="fix", scope="project", text=text)


@pytest.mark.parametrize(
    ("body", "argument", "prompt"),
    [
        ("Fix $ARGUMENTS.", "a b", "Fix a b."),
        ("Fix $1, then $2.", 'one "two words" three', "Fix one, then two words."),
        ("Fix $1 and $9.", "one", "Fix one and ."),
        ("Fix $1.", "it's", "Fix it's."),
        ("Fix $1.", "$2 $ARGUMENTS", "Fix $2."),
        ("$ARGUMENTS $ARGUMENTS", "a", "a a"),
        (r"It costs \$1 or \$ARGUMENTS", "", "It costs $1 or $ARGUMENTS"),
        ("$10, $0, $ARGUMENTSX, $PATH", "", "$10, $0, $ARGUMENTSX, $PATH"),
        ("Fix it.", "", "Fix it."),
        ("Fix it.", "quickly", "Fix it.\n\nquickly"),
        ("Fix $1.", "", "Fix ."),
    ],
)
def test_arguments_take_their_places(body: str, argument: str, prompt: str) -> None:
    assert _command(body).expanded(argument) == prompt


def test_a_command_is_described_by_its_head() -> None:
    command = _command("---\ndescription: Fix an issue\nargument-hint: [issue] [priority]\n---\nFix $1.\n")
    assert (command.description, command.hint) == ("Fix an issue (project)", "[issue] [priority]")


def test_a_command_without_a_head_is_described_by_its_first_line() -> None:
    command = _command("# Fix the tests\nRun them first.")
    assert (command.description, command.hint) == ("Fix the tests (project)", None)
    assert _command("Fix $ARGUMENTS").hint == "[arguments]"
    assert len(_command("x" * 300).description) < 120


def test_what_other_programs_would_run_or_read_is_left_as_text_and_said_so() -> None:
    command = _command("Status: !`rm -rf /`, see @secret.txt")
    assert command.description.endswith("(project; its !`…` parts are not run)")
    assert command.expanded("").startswith(
        "Status: !`rm -rf /`, see @secret.txt\n\n(The parts of this prompt written as"
    )


def test_what_a_terminal_would_obey_is_shown_instead() -> None:
    command = _command("---\ndescription: \x1b[2Jgone\nargument-hint: \x07\n---\nbody")
    assert command.description == "\\x1b[2Jgone (project)"
    assert command.hint == "\\x07"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no prompt"),
        (b"---\ndescription: x\n---\n \n", "no prompt"),
        (b"---\ndescription: x", "has no closing line"),
        (b"caf\xe9", "not UTF-8"),
        (b"a\0b", "NUL"),
        (b"x" * (LARGEST + 1), "larger than 64 KiB"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_command_says_why(tmp_path: Path, data: bytes | None, why: str) -> None:
    path = tmp_path / "fix.md"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(BadPromptFile, match=why):
        read_prompt_file(path, name="fix", scope="user")


def test_line_ends_and_byte_order_marks_of_other_systems_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "fix.md"
    path.write_bytes(b"\xef\xbb\xbf---\r\ndescription: Fix\r\n---\r\nOne.\r\nTwo.\r\n")
    command = read_prompt_file(path, name="fix", scope="user")
    assert (command.description, command.expanded("")) == ("Fix (user)", "One.\nTwo.")

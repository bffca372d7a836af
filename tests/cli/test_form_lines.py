"""Questions of the agent on a terminal, asked by `claw-acp run`."""

import os
import pty
import select
import signal
import subprocess
from pathlib import Path

import pytest

from claw_acp.core.json_value import JsonValue
from tests.cli.test_run import Bench, run_command

ASKING: list[JsonValue] = [
    {
        "call": {
            "name": "ask_user",
            "arguments": {
                "questions": [
                    {"question": "What is it called?"},
                    {
                        "question": "Which licence?",
                        "kind": "choice",
                        "options": [{"label": "MIT", "description": "short"}, {"label": "Apache\x1b[2J"}],
                    },
                    {"question": "Which days?", "kind": "choices", "options": [{"label": "Mon"}, {"label": "Sun"}]},
                    {"question": "In public?", "kind": "yes_no", "optional": True},
                ]
            },
        }
    }
]
PROMPT = b"> "


class Terminal:
    """`claw-acp run` with a person at it."""

    def __init__(self, bench: Bench, *arguments: str) -> None:
        self._leader, follower = pty.openpty()
        environment = bench.environment | {"COLUMNS": "100", "TERM": "xterm"}
        self._process = subprocess.Popen(
            [*run_command(), "go", *arguments],
            cwd=bench.project,
            env=environment,
            stdin=follower,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        self._read = b""
        self.shown = ""

    def types(self, *lines: bytes) -> None:
        """Answer one question after the other, each when it is there."""
        for line in lines:
            self._until_asked()
            self._read = self._read.partition(PROMPT)[2]
            os.write(self._leader, line)

    def _until_asked(self) -> None:
        while PROMPT not in self._read:
            assert select.select([self._leader], [], [], 30)[0], self.shown
            assert self._take(), self.shown

    def _take(self) -> bool:
        try:
            data = os.read(self._leader, 65536)
        except OSError:  # what Linux says when the other end is closed
            return False
        self._read += data
        self.shown += data.decode(errors="replace")
        return bool(data)

    def interrupt(self) -> None:
        self._until_asked()
        self._process.send_signal(signal.SIGINT)

    def ends(self) -> int:
        while select.select([self._leader], [], [], 30)[0] and self._take():
            pass
        os.close(self._leader)
        return self._process.wait(30)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_each_question_is_a_line_and_what_is_no_answer_is_asked_again(bench: Bench) -> None:
    expected: JsonValue = {
        "expect": {"contains": "- What is it called? → Claw\n- Which licence? → MIT\n- Which days? → Mon, Sun\n"}
    }
    bench.plays(ASKING, [expected, {"text": ["thanks"]}])
    terminal = Terminal(bench)
    terminal.types(b"\n", b"Claw\n", b"7\n", b"1\n", b"2, mon\n", b"maybe\n", b"\n", b"\n")
    assert terminal.ends() == 0
    for words in (
        "What is it called?",
        "This one is needed; Ctrl-D declines all questions.",
        "1  MIT: short",
        "2  Apache\\x1b[2J",
        "Type a number from 1 to 2.",
        "In public? (may be left open)",
        "Type y or n.",
        "thanks",
    ):
        assert words in terminal.shown, words


def test_control_d_declines_all_of_them(bench: Bench) -> None:
    bench.plays(ASKING, [{"expect": {"contains": "declined to answer"}}, {"text": ["a pity"]}])
    terminal = Terminal(bench)
    terminal.types(b"Claw\n", b"\x04")
    assert terminal.ends() == 0
    assert "→ Declined" in terminal.shown
    assert "a pity" in terminal.shown


def test_control_c_while_a_question_is_open_ends_the_turn(bench: Bench) -> None:
    bench.plays(ASKING, [{"text": ["never"]}])
    terminal = Terminal(bench)
    terminal.interrupt()
    assert terminal.ends() == 130
    assert "never" not in terminal.shown


@pytest.mark.parametrize("option", ["--yes", "--json"])
def test_who_does_not_want_to_be_asked_gets_no_forms(bench: Bench, option: str) -> None:
    bench.plays(ASKING)
    terminal = Terminal(bench, option)
    assert terminal.ends() == 0
    assert "2. Which licence?" in terminal.shown


def test_without_a_terminal_there_are_no_forms(bench: Bench) -> None:
    bench.plays(ASKING)
    done = bench.run("go")
    assert (done.returncode, "**2. Which licence?**\n\n- MIT: short\n" in done.stdout) == (0, True)

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from claw_acp.core.json_value import JsonValue
from tests.support.program.forked_process import forked_python
from tests.support.program.processes import run_program
from tests.support.quiet import QUIET


def run_command() -> list[str]:
    """`claw-acp run`, which starts the program by the name of its own interpreter."""
    return [forked_python(), "-m", "claw_acp", "run"]


WRITE: JsonValue = {"call": {"name": "write_file", "arguments": {"path": "made.txt", "content": "made\n"}}}


class Bench:
    """A home with a scripted model, and a project to work in."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        self.project = place / "project"
        self.more: dict[str, str] = {}
        self.home.mkdir()
        self.project.mkdir()
        script = json.dumps(str(place / "script.json"))
        self._script = place / "script.json"
        (self.home / "config.toml").write_text(
            f'model = "play/m"\n[providers.play]\nkind = "scripted"\nmodels = ["m"]\nscript = {script}\n'
        )

    def plays(self, *turns: list[JsonValue]) -> None:
        self._script.write_text(json.dumps({"turns": [{"steps": steps} for steps in turns]}))

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAW_ACP_")}
        return kept | QUIET | {"CLAW_ACP_HOME": str(self.home)} | self.more

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return run_program("run", *arguments, cwd=self.project, env=self.environment, text=text)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_answer_goes_to_stdout_and_what_is_done_to_stderr(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("text\n")
    read: JsonValue = {"call": {"name": "read_file", "arguments": {"path": "a.txt"}}}
    bench.plays([{"thought": "hm"}, {"text": ["I ", "look."]}, read], [{"text": "It says text."}])

    done = bench.run("what is in a.txt?")

    assert (done.returncode, done.stdout) == (0, "I look.\nIt says text.\n")
    assert "▸ Read a.txt" in done.stderr
    assert "✓ done" in done.stderr
    assert "hm" not in done.stderr


def test_json_prints_every_update_and_ends_with_the_stop_reason(bench: Bench) -> None:
    bench.plays([{"text": ["a", "b"]}])

    done = bench.run("hi", "--json")

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    texts = [line["update"]["content"]["text"] for line in lines[:-1] if "content" in line["update"]]
    assert texts == ["a", "b"]
    assert lines[-1] == {"sessionId": lines[0]["sessionId"], "stopReason": "end_turn"}


def test_the_turn_belongs_to_the_trace_of_whoever_started_the_program(bench: Bench) -> None:
    bench.plays([{"text": "ok"}])
    parent, frames = f"00-{'a' * 32}-{'b' * 16}-01", bench.home.parent / "frames.jsonl"
    bench.more = {"TRACEPARENT": parent, "TRACESTATE": "x=1", "CLAW_ACP_TRACE": str(frames)}

    assert bench.run("hi").returncode == 0

    (prompt,) = (line for line in frames.read_text().splitlines() if '"session/prompt"' in line)
    assert f'"_meta":{{"traceparent":"{parent}","tracestate":"x=1"}}' in prompt.replace(": ", ":").replace(", ", ",")


def test_the_prompt_can_come_from_standard_input(bench: Bench) -> None:
    bench.plays([{"expect": {"contains": "from a pipe"}}, {"text": "ok"}])

    assert bench.run("-", text="from a pipe\n").stdout == "ok\n"


def test_an_empty_prompt_is_wrong_usage(bench: Bench) -> None:
    done = bench.run("-", text="\n")

    assert (done.returncode, "the prompt is empty" in done.stderr) == (2, True)


def test_with_nobody_to_ask_a_change_is_not_made_and_it_says_so(bench: Bench) -> None:
    bench.plays([WRITE], [{"expect": {"contains": "not allowed"}}, {"text": "ok"}])

    done = bench.run("make a file")

    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert "answered by itself: no terminal to ask on; --yes allows everything" in done.stderr
    assert not (bench.project / "made.txt").exists()


def test_yes_allows_a_change(bench: Bench) -> None:
    bench.plays([WRITE], [{"text": "ok"}])

    done = bench.run("make a file", "--yes")

    assert done.returncode == 0
    assert (bench.project / "made.txt").read_text() == "made\n"
    assert "+made" in done.stderr


def test_a_session_can_be_continued_in_a_later_process(bench: Bench) -> None:
    bench.plays([{"text": "one"}], [{"text": "two"}])
    session = json.loads(bench.run("first", "--json").stdout.splitlines()[-1])["sessionId"]

    done = bench.run("second", "--session", session)

    assert done.stdout == "two\n"
    assert f"--session {session}" in done.stderr
    bench.plays([{"text": "one"}], [{"text": "two"}], [{"text": "three"}], [{"text": "four"}])
    assert bench.run("third", "--session", session[-6:]).stdout == "three\n"
    assert bench.run("fourth", "--continue").stdout == "four\n"


def test_where_nothing_was_said_there_is_nothing_to_go_on_with(bench: Bench) -> None:
    done = bench.run("hi", "--continue")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"there is no session of {bench.project} to continue" in done.stderr
    assert bench.run("hi", "--continue", "--session", "x").returncode == 2


def test_another_directory_and_mode_can_be_chosen(bench: Bench) -> None:
    bench.plays([WRITE], [{"text": "ok"}])
    elsewhere = bench.home.parent / "elsewhere"
    elsewhere.mkdir()

    bench.run("make a file", "--cwd", str(elsewhere), "--mode", "edit")

    assert (elsewhere / "made.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--mode", "fast"), "there is no mode 'fast'"),
        (("--model", "nope/x"), 'there is no provider "nope"'),
        (("--session", "ses_none"), 'there is no session "ses_none"'),
    ],
)
def test_a_wrong_choice_fails_with_a_reason(bench: Bench, arguments: tuple[str, ...], problem: str) -> None:
    bench.plays([{"text": "ok"}])

    done = bench.run("hi", *arguments)

    assert (done.returncode, done.stdout) == (1, "")
    assert f"claw-acp run: {problem}" in done.stderr


def test_a_missing_directory_is_wrong_usage(bench: Bench) -> None:
    assert bench.run("hi", "--cwd", "/no/such/place").returncode == 2


def test_a_failed_model_request_is_told_as_an_error(bench: Bench) -> None:
    bench.plays([{"text": "half"}, {"error": {"kind": "ProviderAuthFailed", "message": "the key is wrong"}}])

    plain, lines = bench.run("hi"), bench.run("hi", "--json")

    assert (plain.returncode, plain.stdout) == (1, "half\n")
    assert plain.stderr.count("the key is wrong") == 1
    assert json.loads(lines.stdout.splitlines()[-1])["error"]["message"] == "the key is wrong"


def test_a_turn_that_was_cut_short_is_no_success(bench: Bench) -> None:
    bench.plays([{"text": "half"}, {"stop": "max_tokens"}])

    done = bench.run("hi")

    assert (done.returncode, done.stdout) == (1, "half\n")
    assert "ended early: max_tokens" in done.stderr


def test_ctrl_c_cancels_the_turn_politely(bench: Bench) -> None:
    bench.plays([{"text": "working"}, {"wait_for": "never"}, {"text": "not said"}])

    with subprocess.Popen(
        [*run_command(), "hi", "--json"], cwd=bench.project, env=bench.environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "working" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        code = process.wait(20)

    assert code == 130
    assert json.loads(rest.splitlines()[-1])["stopReason"] == "cancelled"
    assert "not said" not in rest

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program.forked_process import forked_python


def demo() -> list[str]:
    """The command; the demo starts the program by the name of its own interpreter."""
    return [forked_python(), "-m", "claw_acp", "demo"]


def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAW_ACP_")}
    return kept | {"TMPDIR": str(tmp_path), "COLUMNS": "100", "TERM": "xterm"}


def watch(tmp_path: Path, *, key: bytes, times: int) -> tuple[str, int]:
    """Run the demo on a terminal and press `key` at the first questions; what was shown, and the exit code."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        demo(), stdin=follower, stdout=follower, stderr=follower, env=environment(tmp_path)
    ) as process:
        os.close(follower)
        shown = b""
        answered = 0
        while select.select([leader], [], [], 30)[0]:
            try:
                shown += os.read(leader, 65536)
            except OSError:  # what Linux says when the other end is closed
                break
            if answered < times and shown.count(b"Always reject") > answered:
                os.write(leader, key)
                answered += 1
        os.close(leader)
        return shown.decode(), process.wait(30)


def test_the_demo_mends_the_project_and_finds_its_session_after_a_restart(tmp_path: Path) -> None:
    done = subprocess.run([*demo(), "--yes"], env=environment(tmp_path), capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    for words in (
        '-    return f"Helo, {name}!"',
        '+    return f"Hello, {name}!"',
        "→ Allow once (answered by itself: --yes)",
        "✗ failed",
        "✓ Run the test again",
        "✓ test      failed before, passes now",
        "✓ changed   greeter/greet.py",
        "✓ ran       python3 -m unittest (x2)",
        "is listed, and",
    ):
        assert words in done.stdout
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_without_a_terminal_it_answers_by_itself_and_says_so_and_keeps_what_it_is_told_to(tmp_path: Path) -> None:
    done = subprocess.run(
        [*demo(), "--keep"],
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert "answered by itself: there is no terminal to ask on" in done.stdout
    (kept,) = tmp_path.iterdir()
    assert str(kept) in done.stdout
    assert "Hello, {name}" in (kept / "greeter" / "greeter" / "greet.py").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_every_question_is_answered_by_a_key(tmp_path: Path) -> None:
    shown, code = watch(tmp_path, key=b"y", times=3)

    assert code == 0
    assert shown.count("→ Allow once") == 3
    assert "\x1b[32m+    return" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_person_who_says_no_is_respected_and_the_demo_does_not_claim_success(tmp_path: Path) -> None:
    shown, code = watch(tmp_path, key=b"n", times=1)

    assert code == 1
    assert "You did not allow me to run" in shown
    assert "still fails" in shown

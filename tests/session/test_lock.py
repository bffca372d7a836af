"""One turn at a time in a session, across processes."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from claw_acp.core.errors import SessionBusy, StoreError
from claw_acp.session.lock import SessionLock

CHILD = Path(__file__).with_name("journal_child.py")


@contextmanager
def held_elsewhere(directory: Path, session: str) -> Generator["subprocess.Popen[str]"]:
    command = [sys.executable, str(CHILD), str(directory), session, "held"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        try:
            yield child
        finally:
            child.kill()


def test_a_session_is_held_once_and_free_again_afterwards(tmp_path: Path) -> None:
    lock = SessionLock(tmp_path / "locks")
    for _ in range(3):
        with lock.hold("ses_1"), lock.hold("ses_2"):
            assert len(list((tmp_path / "locks").iterdir())) == 2
            with pytest.raises(SessionBusy, match="ses_1 is already running a turn"), lock.hold("ses_1"):
                pass
    assert list((tmp_path / "locks").iterdir()) == []


def test_many_contenders_never_hold_a_session_together(tmp_path: Path) -> None:
    lock = SessionLock(tmp_path)
    inside: list[int] = []
    crowds: list[int] = []

    def contend(me: int) -> None:
        for _ in range(300):
            with suppress(SessionBusy), lock.hold("ses_1"):
                inside.append(me)
                crowds.append(len(inside))
                inside.remove(me)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=contend, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert set(crowds) == {1}


def test_a_failed_turn_frees_the_session(tmp_path: Path) -> None:
    lock = SessionLock(tmp_path)
    with pytest.raises(RuntimeError), lock.hold("ses_1"):
        raise RuntimeError
    with lock.hold("ses_1"):
        pass


def test_the_refusal_names_the_other_process(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path, "ses_1") as child:
        with pytest.raises(SessionBusy) as caught, SessionLock(tmp_path).hold("ses_1"):
            pass
        with SessionLock(tmp_path).hold("ses_2"):
            pass
    assert f"another process (journal_child.py, pid {child.pid}); wait for it or stop it" in caught.value.message
    assert caught.value.data == {"sessionId": "ses_1", "pid": child.pid}


def test_a_holder_whose_file_was_removed_leaves_the_next_ones_alone(tmp_path: Path) -> None:
    lock = SessionLock(tmp_path)
    with lock.hold("ses_1"):
        (tmp_path / "ses_1.lock").unlink()
        second = lock.hold("ses_1")
        second.__enter__()
    with pytest.raises(SessionBusy), lock.hold("ses_1"):
        pass
    second.__exit__(None, None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path, "ses_1") as child:
        child.kill()
        child.wait()
        with SessionLock(tmp_path).hold("ses_1"):
            pass


def test_nothing_of_a_killed_holders_note_shines_through_the_next(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path, "ses_1") as child:
        child.kill()
        child.wait()
    left = tmp_path / "ses_1.lock"
    left.write_bytes(left.read_bytes().replace(b" ", b"x"))  # as long as notes are, and full of another's words
    with SessionLock(tmp_path).hold("ses_1"):
        assert left.read_text().split()[0] == str(os.getpid())
        assert "xx" not in left.read_text()
        with pytest.raises(SessionBusy, match="ses_1 is already running a turn"), SessionLock(tmp_path).hold("ses_1"):
            pass


@pytest.mark.parametrize("session", ["../outside", "a/b", "", ".", "\ud800", "x" * 5000, "ä"])
def test_no_id_names_a_file_outside_the_directory(tmp_path: Path, session: str) -> None:
    lock = SessionLock(tmp_path / "locks")
    with lock.hold(session):
        assert len(list((tmp_path / "locks").iterdir())) == 1
        with pytest.raises(SessionBusy), lock.hold(session):
            pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["locks"]


def test_a_directory_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(StoreError, match=r"ses_1\.lock cannot be made .* CLAW_ACP_HOME"),
        SessionLock(tmp_path / "file" / "locks").hold("ses_1"),
    ):
        pass

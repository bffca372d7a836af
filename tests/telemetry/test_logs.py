"""Log lines."""

import io
import json
import logging
import stat
from pathlib import Path
from typing import Any

import anyio
import pytest

from claw_acp.telemetry import logs
from claw_acp.telemetry.context import bound_ids, log_context
from claw_acp.telemetry.logs import LOG_FILE, LogFile, logging_to

log = logging.getLogger("claw_acp.testing")

KEY = "sk-ant-api03-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2


def lines(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / LOG_FILE).read_text().splitlines()]


def test_a_line_is_readable_on_the_stream_and_json_in_the_file(tmp_path: Path) -> None:
    stream = io.StringIO()
    with logging_to(tmp_path / "log", stream=stream), log_context(session="ses_1", request="7"):
        log.warning("tool failed", extra={"tool": "shell", "seconds": 1.5})
    said = "WARNING testing: tool failed (request=7, session=ses_1, tool=shell, seconds=1.5)\n"
    assert stream.getvalue() == said
    (entry,) = lines(tmp_path / "log")
    assert entry.pop("time").endswith("Z")
    assert entry.pop("pid") > 0
    assert entry == {
        "level": "warning",
        "logger": "claw_acp.testing",
        "event": "tool failed",
        "request": "7",
        "session": "ses_1",
        "tool": "shell",
        "seconds": 1.5,
    }


def test_the_stream_has_its_level_and_the_file_its_own(tmp_path: Path) -> None:
    stream = io.StringIO()
    with logging_to(tmp_path, level="error", stream=stream):
        log.debug("one")
        log.info("two")
        log.error("three")
    assert stream.getvalue() == "ERROR testing: three\n"
    assert [entry["event"] for entry in lines(tmp_path)] == ["two", "three"]


def test_nothing_is_created_before_the_first_line(tmp_path: Path) -> None:
    with logging_to(tmp_path / "log", stream=io.StringIO()):
        log.debug("not for the file")
    assert not (tmp_path / "log").exists()


def test_the_file_and_its_directory_are_private(tmp_path: Path) -> None:
    with logging_to(tmp_path / "log", stream=io.StringIO()):
        log.info("x")
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "log" / LOG_FILE).stat().st_mode) == 0o600


def test_a_directory_that_cannot_be_written_costs_one_line_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file in the way")
    stream = io.StringIO()
    with logging_to(tmp_path / "log", stream=stream):
        log.warning("one")
        log.warning("two")
    said = stream.getvalue().splitlines()
    assert [line for line in said if line.startswith("WARNING")] == ["WARNING testing: one", "WARNING testing: two"]
    assert len([line for line in said if "cannot be written" in line]) == 1


def test_secrets_reach_neither_stream_nor_file(tmp_path: Path) -> None:
    stream = io.StringIO()
    with logging_to(tmp_path, stream=stream):
        try:
            int(KEY)
        except ValueError:
            log.exception("request failed with %s", KEY, extra={"header": f"Bearer {KEY}"})
    assert KEY not in stream.getvalue()
    assert KEY not in (tmp_path / LOG_FILE).read_text()
    assert "ValueError" in lines(tmp_path)[0]["exception"]


def test_a_full_file_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FILE_LIMIT", 400)
    with logging_to(tmp_path, stream=io.StringIO()):
        for number in range(20):
            log.info("event %d", number)
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOG_FILE, *(f"{LOG_FILE}.{n}" for n in (1, 2, 3))]
    assert lines(tmp_path)[-1]["event"] == "event 19"


def test_a_file_another_process_set_aside_is_left_for_the_new_one(tmp_path: Path) -> None:
    handler = LogFile(tmp_path / LOG_FILE)
    record = logging.makeLogRecord({"msg": "x"})
    handler.emit(record)
    (tmp_path / LOG_FILE).rename(tmp_path / "old")
    handler.emit(record)
    handler.close()
    assert (tmp_path / "old").read_text() == (tmp_path / LOG_FILE).read_text() == "x\n"


def test_leaving_the_block_takes_the_handlers_away(tmp_path: Path) -> None:
    before = logging.getLogger("claw_acp").handlers[:]
    with logging_to(tmp_path, stream=io.StringIO()):
        assert logging.getLogger("claw_acp").handlers != before
    assert logging.getLogger("claw_acp").handlers == before


async def test_ids_stay_with_the_task_they_were_bound_in() -> None:
    seen: dict[str, str] = {}

    async def work(name: str) -> None:
        with log_context(session=name):
            await anyio.lowlevel.checkpoint()
            seen[name] = bound_ids()["session"]

    with log_context(request="1"):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work, "a")
            tasks.start_soon(work, "b")
        assert dict(bound_ids()) == {"request": "1"}
    assert seen == {"a": "a", "b": "b"}
    assert dict(bound_ids()) == {}

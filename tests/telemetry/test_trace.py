"""Recorded frames."""

import json
import logging
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.telemetry.trace import FrameTrace
from tests.telemetry.test_logs import KEY


class StoppedClock:
    def now(self) -> float:
        return 1_700_000_000.25

    def monotonic(self) -> float:
        return 0.0

    def random(self) -> float:
        return 0.0

    def random_bytes(self, count: int) -> bytes:
        return bytes(count)


def recorded(path: Path) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert all(entry.pop("recording").startswith("con_") for entry in entries)
    return entries


def test_frames_are_recorded_with_time_and_direction(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "frames.jsonl"
    trace = FrameTrace(path, clock=StoppedClock())
    trace.record("in", b'{"jsonrpc":"2.0","id":1,"method":"x"}\n')
    trace.record("out", b"not json\n")
    assert recorded(path) == [
        {
            "time": "2023-11-14T22:13:20.250Z",
            "direction": "in",
            "frame": {"jsonrpc": "2.0", "id": 1, "method": "x"},
        },
        {"time": "2023-11-14T22:13:20.250Z", "direction": "out", "frame": "not json"},
    ]
    trace.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_secrets_are_not_recorded(tmp_path: Path) -> None:
    trace = FrameTrace(tmp_path / "frames")
    trace.record("in", json.dumps({"params": {"text": f"use {KEY} please"}}).encode())
    trace.close()
    text = (tmp_path / "frames").read_text()
    assert KEY not in text
    assert "please" in text


def test_a_second_recording_goes_on_at_the_end(tmp_path: Path) -> None:
    for text in (b"1", b"2"):
        trace = FrameTrace(tmp_path / "frames")
        trace.record("in", text)
        trace.close()
        trace.close()
    assert [entry["frame"] for entry in recorded(tmp_path / "frames")] == [1, 2]


def test_a_file_that_cannot_be_written_ends_the_recording_with_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trace = FrameTrace(tmp_path)
    with caplog.at_level(logging.WARNING):
        trace.record("in", b"{}")
        trace.record("in", b"{}")
    assert [record.getMessage() for record in caplog.records] == ["frames are not recorded"]


@given(st.binary(max_size=100))
def test_any_bytes_can_be_recorded(tmp_path_factory: pytest.TempPathFactory, frame: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any-frames"
    path.unlink(missing_ok=True)
    trace = FrameTrace(path)
    trace.record("out", frame)
    trace.close()
    assert len(recorded(path)) == 1

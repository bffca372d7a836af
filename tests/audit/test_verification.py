"""Whatever is done to the files of the audit log afterwards is found, and where."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_acp.audit.line import digest_of, encoded
from claw_acp.audit.log import CHECKPOINT_LINES
from claw_acp.config.model import AuditSection
from claw_acp.core.json_value import JsonValue
from tests.audit.bench import AuditBench, with_field

Lines = list[bytes]


def rechained(lines: Lines) -> Lines:
    """The lines with numbers and sums that fit, as somebody makes them who knows the format but has no key."""
    made: Lines = []
    for number, line in enumerate(lines, start=1):
        prev = digest_of(made[-1]) if made else "0" * 64
        made.append(with_field(line, seq=number, prev=prev))
    return made


EDITS: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "edited": (lambda all_: [*all_[:9], with_field(all_[9], tool="read_file"), *all_[10:]], "line 11: number 10,"),
    "one letter": (lambda all_: [*all_[:9], all_[9].replace(b"shell", b"shall"), *all_[10:]], "line 11: number 10,"),
    "other spelling": (lambda all_: [*all_[:9], all_[9].replace(b",", b", "), *all_[10:]], "line 11: 1 lines up to"),
    "deleted": (lambda all_: [*all_[:9], *all_[10:]], "line 10: it is number 11, but follows number 9"),
    "swapped": (lambda all_: [*all_[:9], all_[10], all_[9], *all_[11:]], "line 10: it is number 11, but"),
    "put in": (lambda all_: [*all_[:9], all_[8], *all_[9:]], "line 10: it is number 9, but follows number 9"),
    "beginning cut": (lambda all_: all_[5:], "the beginning: the lines up to 5 are missing"),
    "end cut": (lambda all_: all_[:30], "the log had 64 lines then; its end is missing from 31 on"),
    "all gone": (lambda _all: [], "the log had 64 lines then; its end is missing from 1 on"),
    "written anew": (lambda all_: rechained([*all_[:9], *all_[10:]]), "line 64 of the log was another one when"),
    "one more, written anew": (lambda all_: rechained([*all_, *all_[:80]]), "no checkpoint vouches for the 76 lines"),
    "rubbish": (lambda all_: [*all_[:9], b"\0" * 40, b"{}", *all_[10:]], "line 12: 2 lines up to here are not"),
}


@pytest.mark.parametrize("name", EDITS)
def test_lines_that_were_changed_are_found(tmp_path: Path, name: str) -> None:
    bench = AuditBench(tmp_path)
    bench.write(CHECKPOINT_LINES + 6)
    assert bench.verify().problems == []
    edit, told = EDITS[name]
    bench.rewrite(edit)
    assert told in " | ".join(bench.verify().problems)


def test_a_checkpoint_of_another_key_vouches_for_nothing(tmp_path: Path) -> None:
    bench, forger = AuditBench(tmp_path / "real"), AuditBench(tmp_path / "forged")
    bench.write(70)
    forger.write(70)
    bench.files.current.write_bytes(forger.files.current.read_bytes())
    bench.files.checkpoints.write_bytes(forger.files.checkpoints.read_bytes())
    assert "signed with another key" in bench.verify().problems[0]


def test_checkpoints_that_were_removed_are_missed(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(70)
    bench.files.checkpoints.unlink()
    assert "no checkpoint vouches for the 70 lines" in bench.verify().problems[0]


def test_whoever_can_write_the_log_alone_cannot_have_another_one_signed(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(70)
    assert not bench.files.checkpoints.is_relative_to(bench.locations.audit_dir)
    bench.rewrite(lambda lines: rechained([*lines[:9], *lines[10:]]))
    bench.write(70, writer=bench.writer())
    assert "line 64 of the log was another one" in bench.verify().problems[0]


def test_a_checkpoint_with_another_line_in_it_has_a_wrong_signature(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(70)
    bench.files.checkpoints.write_bytes(with_field(bench.files.checkpoints.read_bytes().strip(), seq=60) + b"\n")
    assert "its signature is wrong" in bench.verify().problems[0]


def test_a_copy_of_the_checkpoints_shows_a_log_that_was_rewritten_with_the_key(tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere.jsonl"
    bench = AuditBench(tmp_path / "home", section=AuditSection(copy=copy))
    bench.write(70)
    bench.files.current.unlink()
    bench.files.checkpoints.unlink()
    rewriter = AuditBench(tmp_path / "home")
    rewriter.clock.seconds += 60
    rewriter.write(80)
    assert rewriter.verify().problems == []
    assert "line 64 of the log was another one" in rewriter.verify(copy).problems[0]


def test_a_log_that_was_removed_is_missed(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(70)
    for path in tuple(bench.locations.audit_dir.iterdir()):
        path.unlink()
    assert "its end is missing from 1 on" in bench.verify().problems[0]
    assert "there is a key, but no log" in bench.verify().problems[1]


def test_the_chain_goes_on_over_files_and_a_file_that_is_missing_is_found(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path, full=2_000)
    bench.write(60)
    verdict = bench.verify()
    assert (len(bench.files.full()) > 3, verdict.problems, verdict.last) == (True, [], verdict.lines)
    bench.files.full()[1].unlink()
    assert "but follows number" in bench.verify().problems[0]


def test_the_oldest_files_are_removed_on_the_record(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path, full=2_000, section=AuditSection(keep=2))
    bench.write(100)
    assert (len(bench.files.full()), bench.verify().problems) == (2, [])
    bench.files.full()[0].unlink()
    assert "the lines up to" in bench.verify().problems[0]


def test_a_clock_that_was_set_back_is_noted(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(3)
    bench.clock.seconds -= 3600
    bench.write(3)
    verdict = bench.verify()
    assert (verdict.problems, len(verdict.notes)) == ([], 1)
    assert "line 4: the clock was set back" in verdict.notes[0]


def test_rubbish_that_the_next_writer_closed_is_no_crash_unless_it_is_one_line(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(10)
    bench.rewrite(lambda lines: [*lines[:7], b"x", b"y", b"z"])
    bench.write(3, writer=bench.writer())
    assert "3 lines up to here are not lines of the log" in bench.verify().problems[0]


@pytest.mark.parametrize("value", [float("nan"), {"x": [float("-inf")]}, "\ud800" * 9_000, {"a": "x" * 9_000}])
def test_every_value_can_be_recorded(tmp_path: Path, value: JsonValue) -> None:
    bench = AuditBench(tmp_path)
    bench.log.record("call", {"value": value})
    assert (bench.verify().problems, bench.verify().lines) == ([], 1)


@pytest.mark.parametrize("depth", [300, 990, 100_000])
def test_a_value_that_is_nested_deeply_can_be_recorded(tmp_path: Path, depth: int) -> None:
    bench, value = AuditBench(tmp_path), list[JsonValue]()
    for _ in range(depth):
        value = [value]
    bench.log.record("call", {"value": value})
    assert bench.verify().problems == []


def test_lines_are_ascii_sorted_and_bounded() -> None:
    assert encoded({"b": "\u202e\ud800", "a": 1}) == b'{"a":1,"b":"\\u202e\\ud800"}'


@pytest.mark.parametrize("odd", [0, 4], ids=["lines of the log", "four times as many others"])
def test_a_large_log_takes_no_more_memory_than_a_small_one(tmp_path: Path, odd: int) -> None:
    needed: list[int] = []
    for count in (64, 1_024):
        bench = AuditBench(tmp_path / str(count), full=1 << 16)
        bench.write(count)
        if odd:
            bench.rewrite(lambda lines: lines + [b"no line"] * odd * count)  # noqa: B023 - called at once
        bench.verify()
        tracemalloc.start()
        bench.verify()
        needed.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert needed[1] < needed[0] + 100_000

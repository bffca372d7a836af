"""The audit log is whole whoever writes it, however that ends, and says so when it cannot be written."""

import contextlib
import json
import resource
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.audit.log import AuditUnwritable
from claw_acp.config.model import AuditSection
from tests.audit.bench import AuditBench
from tests.support.ordinary_user import ordinary_user

WRITER = """
import sys
from claw_acp.audit.log import AuditLog
from claw_acp.config.locations import find_locations
from claw_acp.config.model import AuditSection
from claw_acp.core.clock import SYSTEM_CLOCK

locations = find_locations({"CLAW_ACP_HOME": sys.argv[1]})
log = AuditLog(locations, section=AuditSection(), clock=SYSTEM_CLOCK, full=20_000)
for number in range(int(sys.argv[2])):
    log.record("call", {"tool": "x" * (number % 300)}, durable=False)
    print(number, flush=True)
"""


def test_a_line_without_its_end_is_kept(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(5)
    bench.files.current.write_bytes(bench.files.current.read_bytes()[:-1])
    bench.write(1, writer=bench.writer())
    assert (bench.verify().problems, bench.verify().lines) == ([], 6)


@pytest.mark.parametrize("cut", [2, 60, 150])
def test_a_line_that_was_cut_off_is_closed_by_the_next_writer(tmp_path: Path, cut: int) -> None:
    bench = AuditBench(tmp_path)
    bench.write(5)
    whole = bench.files.current.read_bytes()
    bench.files.current.write_bytes(whole[:-cut])
    assert len(bench.verify().notes) == 1
    bench.write(3, writer=bench.writer())
    verdict = bench.verify()
    assert (verdict.problems, len(verdict.notes), verdict.lines) == ([], 1, 8)  # of five one was lost; one tells of it
    assert json.loads(bench.lines()[5])["kind"] == "recovered"


@settings(max_examples=30)
@given(cuts=st.lists(st.tuples(st.integers(0, 900), st.booleans()), max_size=6))
def test_two_writers_that_are_cut_off_anywhere_leave_a_whole_log(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[tuple[int, bool]]
) -> None:
    bench = AuditBench(tmp_path_factory.mktemp("audit"), full=1_500)
    writers = [bench.log, bench.writer()]
    for lines, second in cuts:
        bench.write(lines % 7 + 1, writer=writers[second])
        with bench.files.current.open("ab") as file:
            file.write((b'{"at":"' + b"\0" * 900)[:lines])  # what a killed writer left
    bench.write(1)
    assert bench.verify().problems == []


def test_two_processes_that_are_killed_at_any_time_leave_a_whole_log(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path, full=20_000)
    said = 0
    for lines in (1, 40, 7):
        pair = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), "100000"], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for writer in pair:
            assert writer.stdout is not None
            for _ in range(lines):
                writer.stdout.readline()
        for writer in pair:
            writer.kill()
            said += lines
            writer.communicate()
    bench.write(1)
    verdict = bench.verify()
    assert (verdict.problems, verdict.lines > said) == ([], True)


@contextlib.contextmanager
def files_no_larger_than(size: int) -> Generator[None]:
    """A disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_stops_what_must_be_recorded_and_leaves_no_half_line(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(5)
    size = bench.files.current.stat().st_size
    with files_no_larger_than(size + 20), pytest.raises(AuditUnwritable, match=r"File too large\. Free some"):
        bench.write(1)
    assert bench.files.current.stat().st_size == size
    bench.write(1)
    assert bench.verify().problems == []


@pytest.mark.parametrize("use", ["tolerant", "off"])
def test_who_says_so_works_without_the_record(tmp_path: Path, use: str) -> None:
    section = AuditSection.validated({"use": use})
    bench = AuditBench(tmp_path, section=section)
    with files_no_larger_than(0):
        bench.write(1)
    assert not bench.files.current.exists() or not bench.lines()


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.locations.audit_dir.mkdir(mode=0o500)
    with ordinary_user(tmp_path), pytest.raises(AuditUnwritable, match="Permission denied"):
        bench.write(1)


def test_the_log_is_not_written_through_a_link(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.locations.audit_dir.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    bench.files.current.symlink_to(victim)
    with pytest.raises(AuditUnwritable):
        bench.write(1)
    assert victim.read_text() == "mine\n"


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    bench.write(70)
    for path in (bench.files.current, bench.files.checkpoints, bench.locations.audit_key_file):
        assert path.stat().st_mode & 0o077 == 0
    assert bench.locations.audit_dir.stat().st_mode & 0o077 == 0


def test_long_values_are_cut_and_their_whole_is_named_by_its_sum(tmp_path: Path) -> None:
    bench = AuditBench(tmp_path)
    facts = {"arguments": {"content": "x" * 1_000_000}, "reason": "y" * 5_000}
    bench.log.record("call", facts)
    kept = json.loads(bench.lines()[0])
    assert (len(bench.lines()[0]) < 10_000, kept["reason"]["characters"]) == (True, 5_000)
    assert len(kept["arguments"]["sha256"]) == 64

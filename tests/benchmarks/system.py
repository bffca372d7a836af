"""What the system knows about the machine and about a process: from `/proc`, and the CPU clock of POSIX."""

import os
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.client import BenchmarkFailed

BUSY = 0.5  # load average from which on figures are inflated
CPU_CLOCK = 2  # the kind of clock that `clock_getcpuclockid` names: time on a CPU, in user and system mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where the figures come from."""

    cpu: str
    cores: int
    python: str
    system: str
    load: float
    """Mean number of processes that wanted to run in the last minute, at the start."""

    @property
    def busy(self) -> bool:
        """Whether other work was going on."""
        return self.load > BUSY

    def text(self) -> str:
        """For people."""
        return f"{self.cpu}, {self.cores} cores, Python {self.python}, {self.system}, load average {self.load:.2f}"


def this_machine() -> Machine:
    """The machine we run on."""
    version = sys.implementation.name.capitalize().replace("Cpython", "CPython")
    return Machine(
        cpu=_cpu_model(),
        cores=os.cpu_count() or 1,
        python=f"{platform.python_version()} ({version})",
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        load=os.getloadavg()[0],
    )


def cpu_time(pid: int) -> int:
    """Nanoseconds all threads of a process have spent on a CPU, in user and system mode, also those that have ended.

    The same sum as `utime` and `stime` of `/proc/PID/stat`, which counts in steps of 10 ms.
    """
    return time.clock_gettime_ns((~pid << 3) | CPU_CLOCK)  # how Linux numbers the CPU clocks of processes


def resident(pid: int) -> int:
    """Bytes of memory in use, shared libraries in full."""
    return _kilobytes(Path(f"/proc/{pid}/status"), "VmRSS")


def proportional(pid: int) -> int:
    """Bytes of memory in use, what is shared divided among those who share it.

    Only the superuser may look that closely at an agent that lets nobody read it; others are told `resident`.
    """
    try:
        return _kilobytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss")
    except PermissionError:
        return resident(pid)


def _kilobytes(file: Path, name: str) -> int:
    for line in file.read_text().splitlines():
        field, _, value = line.partition(":")
        if field == name:
            return int(value.split()[0]) * 1024
    raise BenchmarkFailed(f"{file} has no line {name}")


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())

"""The filter of system calls, as the kernel reads it: evaluated here for machines that are not this one, too."""

from errno import EAFNOSUPPORT, ENOSYS, EPERM
from socket import AddressFamily
from struct import iter_unpack

import pytest

from claw_acp.sandbox.system_calls import ARCHITECTURES, filter_program

ALLOWED = 0
NEW_USER = 0x10000000


def verdict(machine: str, number: int, *arguments: int, architecture: int | None = None, **options: object) -> int:
    """The error that a call ends with; 0: it is allowed."""
    data = {0: number, 4: ARCHITECTURES[machine] if architecture is None else architecture}
    data |= {16 + 8 * index: argument & 0xFFFFFFFF for index, argument in enumerate(arguments)}
    steps = list(iter_unpack("<HBBI", filter_program(machine, **options)))  # type: ignore[arg-type]
    loaded, at = 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        match code:
            case 0x20:
                loaded = data.get(value, 0)
            case 0x06:
                return ALLOWED if value == 0x7FFF0000 else value & 0xFFFF
            case 0x15:
                at += yes if loaded == value else no
            case 0x35:
                at += yes if loaded >= value else no
            case 0x45:
                at += yes if loaded & value else no
            case _:
                raise AssertionError(f"the kernel knows no step {code:#x}")


CALLS = {  # numbers on x86_64 and aarch64
    "read": (0, 63), "openat": (257, 56), "execve": (59, 221), "ptrace": (101, 117), "keyctl": (250, 219),
    "clone": (56, 220), "unshare": (272, 97), "ioctl": (16, 29), "socket": (41, 198), "mount": (165, 40),
    "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "mknodat": (259, 33), "openat2": (437, 437),
}  # fmt: skip
CASES = [
    ("read", (), ALLOWED), ("openat", (), ALLOWED), ("execve", (), ALLOWED), ("ptrace", (), EPERM),
    ("keyctl", (), EPERM), ("mount", (), EPERM), ("clone", (0x11,), ALLOWED), ("clone", (NEW_USER | 0x11,), EPERM),
    ("unshare", (0x400,), ALLOWED), ("unshare", (NEW_USER,), EPERM), ("ioctl", (0, 0x5401), ALLOWED),
    ("ioctl", (0, 0x5412), EPERM), ("ioctl", (0, 0xFF_0000_5412), EPERM), ("ioctl", (0, 0x541C), EPERM),
    ("socket", (AddressFamily.AF_INET, 1, 6), ALLOWED), ("socket", (AddressFamily.AF_UNIX, 1, 0), ALLOWED),
    ("socket", (AddressFamily.AF_NETLINK, 3, 0), ALLOWED), ("socket", (40, 1, 0), EAFNOSUPPORT),
    ("fchmod", (3, 0o755), ALLOWED), ("fchmod", (3, 0o4755), EPERM), ("fchmodat", (3, 0, 0o2755), ALLOWED),
    ("fchmodat", (3, 0, 0o4711), EPERM), ("fchmodat2", (3, 0, 0o4711), EPERM), ("mknodat", (3, 0, 0o104711), EPERM),
    ("openat", (3, 0, 0o101, 0o644), ALLOWED), ("openat", (3, 0, 0o101, 0o4755), EPERM),
    ("openat", (3, 0, 0, 0o4755), ALLOWED), ("openat", (3, 0, 0o20200002, 0o4755), EPERM), ("openat2", (), ENOSYS),
    ("socket", (17, 3, 0), EAFNOSUPPORT), ("socket", (AddressFamily.AF_INET, 1, 262), 93),
]  # fmt: skip


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize(("name", "arguments", "expected"), CASES)
def test_a_call_is_allowed_or_refused(machine: str, name: str, arguments: tuple[int, ...], expected: int) -> None:
    assert verdict(machine, CALLS[name][list(ARCHITECTURES).index(machine)], *arguments) == expected


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_calls_by_other_ways_do_not_exist(machine: str) -> None:
    assert verdict(machine, 435) == ENOSYS  # clone3
    assert verdict(machine, 600) == ENOSYS  # newer than the table
    assert verdict(machine, 0x40000000 | 101) == ENOSYS  # x32
    assert verdict(machine, 11, architecture=0x40000003) == ENOSYS  # i386


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_no_socket_can_be_made_without_families(machine: str) -> None:
    number = CALLS["socket"][list(ARCHITECTURES).index(machine)]
    families = [1, 2, 10, 16, 40]
    assert [verdict(machine, number, family, 1, 0, families=()) for family in families] == [EAFNOSUPPORT] * 5

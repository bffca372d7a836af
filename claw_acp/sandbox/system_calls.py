"""The filter of system calls (seccomp) for confined programs: what no build, test or script needs is refused.

Refused are the ways to other processes, to new privileges and to the kernel's rarely used parts. A call that is newer
than the table does not exist for confined programs, nor do calls of another architecture.
"""

from collections.abc import Iterable, Iterator, Mapping
from errno import EAFNOSUPPORT, ENOSYS, EPERM, EPROTONOSUPPORT
from socket import AddressFamily
from struct import pack
from typing import Final

ARCHITECTURES: Final[Mapping[str, int]] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The machines with a filter, with the number by which the kernel names each (`AUDIT_ARCH_*`)."""

INSIDE: Final = (AddressFamily.AF_UNIX, AddressFamily.AF_INET, AddressFamily.AF_INET6, AddressFamily.AF_NETLINK)
"""The address families of sockets where a network namespace keeps the rest of the world out."""

REFUSED: Final[Mapping[str, tuple[int, int]]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "vhangup": (153, 58),
    "nfsservctl": (180, 42),
    "lookup_dcookie": (212, 18),
}
"""Refused calls, with their numbers on x86_64 and aarch64."""

SETTING_MODES: Final[Mapping[str, tuple[tuple[int | None, int | None], int]]] = {
    "chmod": ((90, None), 1),
    "fchmod": ((91, 52), 1),
    "fchmodat": ((268, 53), 2),
    "fchmodat2": ((452, 452), 2),
    "mknod": ((133, None), 1),
    "mknodat": ((259, 33), 2),
    "creat": ((85, None), 1),
}
"""Calls that set the mode of a file: their numbers, and the argument that is the mode."""

OPENING: Final[Mapping[str, tuple[tuple[int | None, int | None], int]]] = {
    "open": ((2, None), 1),
    "openat": ((257, 56), 2),
}
"""Calls that may create a file: their numbers, and the argument that is the flags; the mode follows."""

_CLONE: Final = (56, 220)
_UNSHARE: Final = (272, 97)
_IOCTL: Final = (16, 29)
_SOCKET: Final = (41, 198)
_CLONE3: Final = 435  # its flags lie in memory, where no filter looks; C libraries then use clone
_OPENAT2: Final = 437  # its mode lies in memory, too; programs then use openat
_NEWEST: Final = 469  # file_setattr, of Linux 6.17
_X32: Final = 0x40000000

SET_USER: Final = 0o4000
"""The mode of programs that run with the rights of their owner: outside, it would be the person's for all others."""
NEW_FILES: Final = (0o100, 0o20000000)  # O_CREAT, and O_TMPFILE without O_DIRECTORY
NEW_USER: Final = 0x10000000
TERMINAL_REQUESTS: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
MPTCP: Final = 262  # TCP by another name, which rules about TCP do not see

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000


def filter_program(machine: str, *, families: Iterable[AddressFamily] = INSIDE) -> bytes:
    """The filter as the kernel takes it.

    Args:
        machine: A key of `ARCHITECTURES`.
        families: The address families of which sockets can be made.
    """
    column = list(ARCHITECTURES).index(machine)
    code = [
        _step(_LOAD, _ARCHITECTURE),
        *_unless(_EQUAL, ARCHITECTURES[machine], error=ENOSYS),
        _step(_LOAD, _NUMBER),
        *_if(_AT_LEAST, _NEWEST + 1, error=ENOSYS),  # x32 as well, whose numbers begin at 2**30
        *_if(_EQUAL, _CLONE3, error=ENOSYS),
        *_if(_EQUAL, _OPENAT2, error=ENOSYS),
    ]
    for numbers in REFUSED.values():
        code += _if(_EQUAL, numbers[column], error=EPERM)
    for numbers in (_CLONE, _UNSHARE):
        code += _for_call(numbers[column], [_argument(0), *_if(_ANY_BIT, NEW_USER, error=EPERM)])
    terminal = [step for request in TERMINAL_REQUESTS for step in _if(_EQUAL, request, error=EPERM)]
    code += _for_call(_IOCTL[column], [_argument(1), *terminal])
    code += _for_call(_SOCKET[column], _sockets(tuple(families)))
    return b"".join([*code, *_modes(column), _step(_RETURN, _ALLOW)])


def _modes(column: int) -> Iterator[bytes]:
    """The checks of calls that would make a program with the rights of its owner."""
    refused = _if(_ANY_BIT, SET_USER, error=EPERM)
    for numbers, mode in SETTING_MODES.values():
        if (number := numbers[column]) is not None:
            yield from _for_call(number, [_argument(mode), *refused])
    for numbers, flags in OPENING.values():
        if (number := numbers[column]) is not None:
            new = [_argument(flags), _step(_ANY_BIT, sum(NEW_FILES), yes=1, no=0), _step(_RETURN, _ALLOW)]
            yield from _for_call(number, [*new, _argument(flags + 1), *refused])


def _sockets(families: tuple[AddressFamily, ...]) -> list[bytes]:
    """The check of a call of `socket`."""
    allowed = [
        _step(_EQUAL, family, yes=len(families) - index, no=0) for index, family in enumerate(families)
    ]  # each jumps over the others and the refusal
    refused = [_step(_RETURN, _ERROR | EAFNOSUPPORT)]
    return [_argument(0), *allowed, *refused, _argument(2), *_if(_EQUAL, MPTCP, error=EPROTONOSUPPORT)]


def _for_call(number: int, checks: list[bytes]) -> list[bytes]:
    """The checks for one call; what they do not refuse is allowed."""
    return [_step(_EQUAL, number, yes=0, no=len(checks) + 1), *checks, _step(_RETURN, _ALLOW)]


def _if(test: int, value: int, *, error: int) -> list[bytes]:
    return [_step(test, value, yes=0, no=1), _step(_RETURN, _ERROR | error)]


def _unless(test: int, value: int, *, error: int) -> list[bytes]:
    return [_step(test, value, yes=1, no=0), _step(_RETURN, _ERROR | error)]


def _argument(index: int) -> bytes:
    """Load the low half of an argument: flags, requests and families have no more, and the kernel looks at no more."""
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return pack("<HBBI", code, yes, no, value)

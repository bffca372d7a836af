"""The filter of system calls as Docker and Podman take it: by names, in JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from errno import EAFNOSUPPORT, ENOSYS, EPERM, EPROTONOSUPPORT
from socket import AddressFamily
from typing import Any, Final

from claw_acp.sandbox.system_calls import (
    INSIDE,
    MPTCP,
    NEW_FILES,
    NEW_USER,
    OPENING,
    REFUSED,
    SET_USER,
    SETTING_MODES,
    TERMINAL_REQUESTS,
)

_ARCHITECTURES: Final = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_UNSEEN: Final = ("clone3", "openat2")
"""Calls whose flags lie in memory, where no filter looks."""
_FAMILIES: Final = 64  # more than any kernel has
_ALL: Final = 0xFFFFFFFF  # the kernel takes no more of flags, families and requests


def call_rules(machine: str, *, families: Iterable[AddressFamily] = INSIDE) -> bytes:
    """The filter. Unlike our own one it cannot refuse calls that it has no name for.

    Args:
        machine: A key of `system_calls.ARCHITECTURES`.
        families: The address families of which sockets can be made.
    """
    rules = [
        _refused(REFUSED, EPERM),
        _refused(_UNSEEN, ENOSYS),
        _refused(("clone", "unshare"), EPERM, _bits(0, NEW_USER)),
        *(_refused(("ioctl",), EPERM, _equal(1, request)) for request in TERMINAL_REQUESTS),
        *_sockets(frozenset(families)),
        *(_refused((name,), EPERM, _bits(mode, SET_USER)) for name, (_, mode) in SETTING_MODES.items()),
        *(
            _refused((name,), EPERM, _bits(flags, new), _bits(flags + 1, SET_USER))
            for name, (_, flags) in OPENING.items()
            for new in NEW_FILES
        ),
    ]
    filtered = {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [_ARCHITECTURES[machine]],
        "syscalls": rules,
    }
    return json.dumps(filtered).encode()


def _sockets(allowed: frozenset[AddressFamily]) -> Iterator[Mapping[str, Any]]:
    for family in range(_FAMILIES):
        if family not in allowed:
            yield _refused(("socket",), EAFNOSUPPORT, _equal(0, family))
    yield _refused(("socket",), EPROTONOSUPPORT, _equal(2, MPTCP))


def _refused(names: Iterable[str], error: int, *conditions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The rule that calls fail if all conditions hold."""
    return {"names": [*names], "action": "SCMP_ACT_ERRNO", "errnoRet": error, "args": [*conditions]}


def _equal(argument: int, value: int) -> Mapping[str, Any]:
    return {"index": argument, "value": _ALL, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


def _bits(argument: int, bits: int) -> Mapping[str, Any]:
    return {"index": argument, "value": bits, "valueTwo": bits, "op": "SCMP_CMP_MASKED_EQ"}

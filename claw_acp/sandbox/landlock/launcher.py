"""Becomes a program that Landlock confines. An isolated Python runs it before each command, so little is imported.

    python -I -S launcher.py --OPTION VALUE ... -- PROGRAM [ARGUMENT ...]

Options, each as often as needed: `writable` and `unreadable` (paths), `filter` (a file), `variable` (NAME=VALUE),
`limit` (NUMBER=VALUE, of `resource`). The kernel's rules only grant: what is not to be read is left out by granting
everything beside it.
"""

import os
import resource
import sys
from _ctypes import (  # pyright: ignore[reportMissingModuleSource] - `ctypes` would take 4 ms
    FUNCFLAG_CDECL,
    FUNCFLAG_USE_ERRNO,
    CFuncPtr,
    Structure,
    _SimpleCData,  # pyright: ignore[reportPrivateUsage]
    byref,
    dlopen,
    dlsym,
    get_errno,
)
from _signal import (  # pyright: ignore[reportMissingImports] - `signal` would take 4 ms
    SIG_DFL,  # pyright: ignore[reportUnknownVariableType]
    SIGPIPE,  # pyright: ignore[reportUnknownVariableType]
    SIGXFSZ,  # pyright: ignore[reportUnknownVariableType]
    signal,  # pyright: ignore[reportUnknownVariableType]
)

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # on every machine
VERSION_FLAG = 1
BENEATH = 1
NO_NEW_PRIVILEGES, DEATH_SIGNAL, SECCOMP, BOUNDING_DROP, SECURE_BITS = 38, 1, 22, 24, 28
FILTER_MODE = 2
KILL = 9
NO_ROOT = 0x2F  # the superuser gets no capabilities by running programs, and cannot undo that
CAPABILITY_VERSION = 0x20080522

EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY = 1 << 0, 1 << 1, 1 << 2, 1 << 3
FIRST_RIGHTS = (1 << 13) - 1  # those of version 1: all kinds of reading, writing, creating, removing
REFER, TRUNCATE, DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
SCOPES = 3  # abstract sockets and signals, since version 6
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_CONTROL
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")


class Int(_SimpleCData):  # pyright: ignore[reportMissingTypeArgument]
    """A C `int`."""

    _type_ = "i"


class Long(_SimpleCData):  # pyright: ignore[reportMissingTypeArgument]
    """A C `long`."""

    _type_ = "l"


class Short(_SimpleCData):  # pyright: ignore[reportMissingTypeArgument]
    """A C `unsigned short`."""

    _type_ = "H"


class Bytes(_SimpleCData):  # pyright: ignore[reportMissingTypeArgument]
    """A C `char *`."""

    _type_ = "z"


class Function(CFuncPtr):
    """A function of the C library that returns an `int`, or fails with -1."""

    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = Int


class Program(Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", Short), ("steps", Bytes))


LIBC = dlopen(None, 0)  # pyright: ignore[reportArgumentType] - that is this program itself


def call(name: str, *arguments: object) -> int:
    """The result of a function of the C library; its numbers are as long as those of the kernel."""
    function = Function(dlsym(LIBC, name))
    return function(*(Long(argument) if isinstance(argument, int) else argument for argument in arguments))


def checked(result: int) -> int:
    """The result of a call.

    Raises:
        OSError: It failed.
    """
    if result < 0:
        error = get_errno()
        raise OSError(error, os.strerror(error))
    return result


def version() -> int:
    """The version of Landlock in this kernel; 0: none."""
    return max(0, call("syscall", CREATE_RULESET, None, 0, VERSION_FLAG))


def known_rights(landlock: int) -> int:
    """The rights to files that a version knows."""
    newer = ((2, REFER), (3, TRUNCATE), (5, DEVICE_CONTROL))
    return FIRST_RIGHTS | sum(right for since, right in newer if landlock >= since)


def restrict(writable: list[str], unreadable: list[str]) -> None:
    """Give up all rights to files but those wanted."""
    landlock = version()
    rights = known_rights(landlock)
    attributes = b"".join(number.to_bytes(8, sys.byteorder) for number in (rights, 0, SCOPES))
    size = 24 if landlock >= 6 else 8  # older kernels refuse fields that they do not know
    ruleset = checked(call("syscall", CREATE_RULESET, attributes, size, 0))
    grant(ruleset, "/", READ_DIRECTORY)
    grant_around(ruleset, "/", [*unreadable, "/dev"])  # a disk there holds all files
    for path in writable:
        grant(ruleset, path, rights & ~(EXECUTE | READ_FILE))
    for name in DEVICES:
        grant(ruleset, f"/dev/{name}", rights & (READ_FILE | WRITE_FILE | TRUNCATE | DEVICE_CONTROL))
    checked(call("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    checked(call("syscall", RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def grant_around(ruleset: int, directory: str, hidden: list[str]) -> None:
    """Grant reading a directory but for the hidden paths."""
    prefix = directory.rstrip("/") + "/"
    within = [path for path in hidden if path.startswith(prefix)]
    if directory in hidden:
        return
    if not within:
        grant(ruleset, directory, READ_FILE | EXECUTE)
        return
    try:
        found = list(os.scandir(directory))
    except OSError:  # nobody reads there anyway
        return
    for entry in found:
        if entry.is_symlink():
            continue  # what it leads to is granted, or not, for itself
        if entry.is_dir():
            grant_around(ruleset, entry.path, within)
        elif entry.path not in within:
            grant(ruleset, entry.path, READ_FILE | EXECUTE)


def grant(ruleset: int, path: str, rights: int) -> None:
    """Grant rights to a file, or to all below a directory; a missing one is passed over."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    if not os.path.isdir(path):  # noqa: PTH112 - text
        rights &= FILE_RIGHTS
    attributes = rights.to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder)
    checked(call("syscall", ADD_RULE, ruleset, BENEATH, attributes, 0))
    os.close(descriptor)


def drop_capabilities() -> None:
    """Give up what makes the superuser one."""
    if os.geteuid() != 0:
        return
    checked(call("prctl", SECURE_BITS, NO_ROOT, 0, 0, 0))
    capability = 0
    while call("prctl", BOUNDING_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    header, none = CAPABILITY_VERSION.to_bytes(4, sys.byteorder) + bytes(4), bytes(24)
    checked(call("capset", header, none))


def read_filter(path: str) -> bytes:
    """The steps of a filter."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib takes longer than all the rest
        return file.read()


def filter_calls(steps: bytes) -> None:
    """Filter system calls from now on."""
    program = Program(len(steps) // 8, steps)
    checked(call("prctl", SECCOMP, FILTER_MODE, byref(program), 0, 0))


def options_of(arguments: list[str]) -> dict[str, list[str]]:
    """The options, each with its values; the command line as that of `command`."""
    options: dict[str, list[str]] = {}
    for index in range(0, len(arguments), 2):
        if arguments[index] == "--":
            options["command"] = arguments[index + 1 :]
            break
        options.setdefault(arguments[index].removeprefix("--"), []).append(arguments[index + 1])
    return options


def main(*arguments: str) -> None:
    """Become the program."""
    options = options_of(list(arguments))
    command = options["command"]
    for number, value in (text.split("=") for text in options.get("limit", [])):
        resource.setrlimit(int(number), (int(value), int(value)))
    checked(call("prctl", DEATH_SIGNAL, KILL, 0, 0, 0))
    filters = [read_filter(path) for path in options.get("filter", [])]  # they may be among what is unreadable then
    restrict(options.get("writable", []), options.get("unreadable", []))
    drop_capabilities()
    for steps in filters:
        filter_calls(steps)
    for variable in options.get("variable", []):
        name, _, value = variable.partition("=")
        os.environ[name] = value
    signal(SIGPIPE, SIG_DFL)  # Python ignores these, and what is ignored stays so in the next program
    signal(SIGXFSZ, SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(2, f"claw-acp: {command[0]} cannot be run: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main(*sys.argv[1:])

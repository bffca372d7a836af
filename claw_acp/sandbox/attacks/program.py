"""Attacks that need system calls. Run inside a sandbox by a bare Python, as text: it imports nothing of ours.

    python -I -S -c TEXT ATTACK TOKEN [ARGUMENT]

The variable STARTED is printed first. An attack that gets what it wants prints the token; one that is stopped says why
on its standard error, and ends with `NO_ANSWER` where nothing came.
"""

import ctypes
import fcntl
import os
import resource
import socket
import struct
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from os import fork, kill

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_USER = 0x10000000
CLONE3 = 435  # everywhere
CALLS = {
    "x86_64": {"keyctl": 250, "bpf": 321, "userfaultfd": 323},
    "aarch64": {"keyctl": 219, "bpf": 280, "userfaultfd": 282},
}
IO_URING_SETUP = 425  # everywhere
MANY = 100  # processes; more than the limit of a proof
MEBIBYTE = 1024 * 1024
PATIENCE = 0.5  # seconds for an answer of this machine
NO_ANSWER = 124  # the exit code for none


def call(number: int, *arguments: object) -> int:
    """The result of a system call."""
    return checked(LIBC.syscall(ctypes.c_long(number), *arguments))


def checked(result: int) -> int:
    """The result of a function of the C library.

    Raises:
        OSError: It failed.
    """
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def own_call(name: str, *arguments: object) -> int:
    """The result of a system call that has another number on each machine."""
    return call(CALLS[os.uname().machine][name], *arguments)


# ---------------------------------------------------------------- files


def unmount(path: str) -> None:
    """Lift what hides a file."""
    checked(LIBC.umount2(path.encode(), 2))


def mount(path: str) -> None:
    """Mount something, and take it away again."""
    checked(LIBC.mount(b"none", path.encode(), b"tmpfs", ctypes.c_ulong(0), None))
    checked(LIBC.umount2(path.encode(), 2))


def opened(path: str) -> None:
    """Open a file for writing."""
    os.close(os.open(path, os.O_WRONLY))


def device(_: str) -> None:
    """Make a device and use it."""
    os.mknod("device", 0o20600, os.makedev(1, 5))
    os.close(os.open("device", os.O_RDONLY))


def disk(_: str) -> None:
    """Open a disk."""
    with os.scandir("/sys/class/block") as found:
        for device in found:
            os.close(os.open(f"/dev/{device.name}", os.O_RDONLY))
            return
    raise OSError(0, "there is none")


def descriptors(path: str) -> None:
    """Read files that whoever started us has open."""
    with os.scandir("/proc/self/fd") as found:
        for descriptor in found:
            if os.path.realpath(descriptor.path) == path:
                return
    raise OSError(0, "none was inherited")


# ---------------------------------------------------------------- network and sockets


def tcp(port: str) -> None:
    """Connect to a server of this machine."""
    socket.create_connection(("127.0.0.1", int(port)), PATIENCE).close()


def udp(port: str) -> None:
    """Get an answer to a datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(PATIENCE)
        asking.sendto(b"?", ("127.0.0.1", int(port)))
        asking.recv(1)


def datagram(address: str) -> None:
    """Send a datagram away: what leaves can carry data, as questions for names do."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.sendto(b"?", (address, 53))


def unix(path: str) -> None:
    """Connect to a Unix socket; an @ stands for the NUL of an abstract one."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(path.replace("@", "\0", 1))


def vsock(_: str) -> None:
    """Make a socket to the machine below this one."""
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()


# ---------------------------------------------------------------- the kernel


def user_namespace(_: str) -> None:
    """Become the superuser of a namespace."""
    checked(LIBC.unshare(NEW_USER))


def user_namespace_by_clone3(_: str) -> None:
    """Become the superuser of a namespace by a call whose flags no filter sees."""
    arguments = struct.pack("=8Q", NEW_USER, 0, 0, 0, 17, 0, 0, 0)
    if call(CLONE3, ctypes.create_string_buffer(arguments), ctypes.c_size_t(64)) == 0:
        os._exit(0)
    os.wait()


def new_privileges(_: str) -> None:
    """Find that programs with the rights of other users keep them."""
    if LIBC.prctl(39, 0, 0, 0, 0) == 1:
        raise OSError(0, "programs with the rights of others get none (no_new_privs)")


def set_user(_: str) -> None:
    """Leave a program that runs with our rights, whoever starts it."""
    with suppress(OSError):
        os.close(os.open("opened", os.O_CREAT | os.O_WRONLY, 0o4711))
        return
    with suppress(OSError):
        os.mknod("made", 0o104711)
        return
    os.close(os.open("changed", os.O_CREAT | os.O_WRONLY, 0o711))
    os.chmod("changed", 0o4711)  # noqa: PTH101, S103 - an attack


def trace(_: str) -> None:
    """Be traced."""
    checked(LIBC.ptrace(0, 0, None, None))


def keys(_: str) -> None:
    """Make a key ring."""
    own_call("keyctl", ctypes.c_long(1), ctypes.c_char_p(b"attack"))


def io_uring(_: str) -> None:
    """Make a ring for system calls that no filter sees."""
    os.close(call(IO_URING_SETUP, ctypes.c_long(1), ctypes.create_string_buffer(120)))


def page_faults(_: str) -> None:
    """Handle page faults, which makes races in the kernel easy to win."""
    os.close(own_call("userfaultfd", ctypes.c_long(1)))


def bpf(_: str) -> None:
    """Load a map into the kernel."""
    os.close(
        own_call(
            "bpf",
            ctypes.c_long(0),
            ctypes.create_string_buffer(struct.pack("=5I", 2, 4, 4, 1, 0) + bytes(100)),
            ctypes.c_long(120),
        )
    )


def typed_ahead(_: str) -> None:
    """Type a command into the terminal that we were started from."""
    primary, secondary = os.openpty()
    if (child := fork()) == 0:
        os.setsid()
        fcntl.ioctl(secondary, termios.TIOCSCTTY, 0)
        try:
            fcntl.ioctl(secondary, termios.TIOCSTI, b"x")
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    error = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(primary)
    if error:
        raise OSError(error, os.strerror(error))


# ---------------------------------------------------------------- limits


def processes(_: str) -> None:
    """Start many processes."""
    started: list[int] = []
    reading, writing = os.pipe()
    try:
        for _number in range(MANY):
            child = fork()
            if child == 0:
                os.close(writing)
                os.read(reading, 1)  # until all of them are there
                os._exit(0)
            started.append(child)
    finally:
        for child in started:
            kill(child, 9)


def large_file(limit: str) -> None:
    """Write a large file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.pwrite(os.open("large", os.O_WRONLY | os.O_CREAT), b"x", int(limit))


def memory(limit: str) -> None:
    """Use much memory."""
    try:
        bytearray(int(limit) + 64 * MEBIBYTE)
    except MemoryError:
        raise OSError(0, "Cannot allocate memory") from None


ATTACKS: dict[str, Callable[[str], None]] = {
    function.__name__: function
    for function in (
        unmount, mount, opened, device, disk, descriptors, tcp, udp, datagram, unix, vsock, user_namespace,
        user_namespace_by_clone3, new_privileges, set_user, trace, keys, io_uring, page_faults, bpf, typed_ahead,
        processes, large_file, memory,
    )
}  # fmt: skip


def main(attack: str, token: str, argument: str = "") -> None:
    """Attack."""
    print(os.environ.get("STARTED", ""), flush=True)  # noqa: T201 - this is a program
    try:
        ATTACKS[attack](argument)
    except TimeoutError:
        sys.stderr.write(f"{attack}: nothing happened within {PATIENCE} s\n")
        sys.exit(NO_ANSWER)
    except OSError as error:
        sys.stderr.write(f"{attack}: {error.strerror or error}\n")
    else:
        sys.stdout.write(f"{token}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

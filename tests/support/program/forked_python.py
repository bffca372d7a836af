# An interpreter that has the fork server run what that has loaded, and becomes the usual one for everything else.
# `forked_process.py` makes a program of this file. It imports nothing that is not built in: it has to be quick.
# pyright: basic, reportMissingImports=false
import _signal
import _socket
import posix
import sys


def order(status: int) -> tuple[_socket.socket, int]:
    """Ask for the program, with our descriptors; returns the connection and the process id, 0 if it is refused."""
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(sys.argv[0].rpartition("/")[0] + "/orders")
    arguments = [argument.encode("utf-8", "surrogateescape") for argument in sys.argv[1:]]
    env = [name + b"=" + value for name, value in posix.environ.items()]
    data = b"\0".join([str(len(arguments)).encode(), *arguments, posix.getcwdb(), *env])
    descriptors = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2, status))
    server.sendmsg([len(data).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)])
    server.sendall(data)
    return server, int.from_bytes(server.recv(4), "big")


def main() -> None:
    """Run the program to its end, which becomes ours."""
    ending, theirs = posix.pipe()
    server, pid = order(theirs)
    if not pid:
        server.close()
        posix.execve(sys.executable, [sys.executable, *sys.argv[1:]], posix.environ)
    for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGQUIT):
        _signal.signal(number, lambda number, _frame: posix.kill(pid, number))
    for number in (0, 1, 2, theirs):
        posix.close(number)
    code = int(posix.read(ending, 16) or b"1")
    if code < 0:
        _signal.signal(-code, _signal.SIG_DFL)
        posix.kill(posix.getpid(), -code)
    posix._exit(code)


main()

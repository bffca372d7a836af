"""The stage that gives the proxy a door inside: the command behind it is started as if it were not there."""

import os
import socket
import subprocess
from pathlib import Path
from threading import Thread

import pytest

from claw_acp.sandbox.network_stage import PROXIES, behind_proxy

WITHOUT_LOCALE = {"PATH": os.defpath, "ODD\udcff": "a=b\n\udcfe", "HTTPS_PROXY": "http://elsewhere:1"}


def run(tmp_path: Path, *argv: str) -> tuple[subprocess.CompletedProcess[bytes], int]:
    """A command behind the stage, and the port on which its proxy listens."""
    path, ports = str(tmp_path / "proxy"), list[int]()

    def take() -> None:
        with door.accept()[0] as stream:
            _, descriptors, _, _ = socket.recv_fds(stream, 1, 1)
        with socket.socket(fileno=descriptors[0]) as listening:
            ports.append(listening.getsockname()[1])

    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen()
        thread = Thread(target=take)
        thread.start()
        done = subprocess.run(behind_proxy(argv, socket=path), env=WITHOUT_LOCALE, capture_output=True, check=False)
        thread.join()
    return done, ports[0]


def test_the_command_gets_its_own_variables_and_those_of_the_proxy_and_no_others(tmp_path: Path) -> None:
    done, port = run(tmp_path, "env", "-0")
    variables = dict(entry.split(b"=", 1) for entry in done.stdout.split(b"\0") if entry)
    proxy = f"http://127.0.0.1:{port}".encode()
    assert variables == {
        b"PATH": os.defpath.encode(),
        b"ODD\xff": b"a=b\n\xfe",
        **{name.encode(): proxy for name in PROXIES},
        **dict.fromkeys((b"NO_PROXY", b"no_proxy"), b"localhost,127.0.0.1,::1"),
        b"NODE_USE_ENV_PROXY": b"1",
    }


def test_the_command_has_no_descriptor_more_and_ignores_no_signal_more(tmp_path: Path) -> None:
    script = "ls /proc/self/fd; grep SigIgn /proc/self/status; exit 7"
    done, _ = run(tmp_path, "sh", "-c", script)
    descriptors, _, ignored = done.stdout.decode().partition("SigIgn:")
    assert descriptors.split() == ["0", "1", "2", "3"]  # 3: the listing itself
    assert int(ignored, 16) == 0
    assert done.returncode == 7


@pytest.mark.parametrize(("program", "code"), [("no-such-program", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_run_is_told_as_a_shell_tells_it(tmp_path: Path, program: str, code: int) -> None:
    done, _ = run(tmp_path, program)
    assert done.returncode == code
    assert done.stderr.startswith(f"claw-acp: {program} cannot be run: ".encode())


def test_without_the_proxy_the_command_does_not_run(tmp_path: Path) -> None:
    argv = behind_proxy(("touch", str(tmp_path / "ran")), socket=str(tmp_path / "nothing"))
    done = subprocess.run(argv, env=WITHOUT_LOCALE, capture_output=True, check=False)
    assert (done.returncode, (tmp_path / "ran").exists()) == (126, False)
    assert b"the proxy for the network cannot be reached" in done.stderr

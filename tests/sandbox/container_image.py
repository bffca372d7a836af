"""An image for containers, made of programs of this machine: nothing is downloaded."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from claw_acp.sandbox.attacks import program

IMAGE = "localhost/claw-acp-test"
_PROGRAMS = (
    "sh", "bash", "cat", "ls", "ln", "mv", "cp", "rm", "mkdir", "touch", "chmod", "chown", "mknod", "mkfifo", "sleep",
    "kill", "setsid", "nohup", "git", "env", "id", "readlink", "stat", "grep", "sed", "true", "od", "head",
    "dd", "python3",
)  # fmt: skip
_PATH = "/usr/bin:/bin"
_MODULES = """
import encodings.idna, warnings
print(*{module.__file__ for module in sys.modules.values() if getattr(module, "__file__", None)}, sep="\\n")
"""
_LIBRARY = re.compile(r"(/\S+) \(0x")
_BUILDING = 60.0  # seconds


def build_image(engine: str, directory: Path) -> dict[str, str]:
    """Build the image: for Podman in a directory, for Docker in the storage of its daemon.

    Returns the variables with which it is found.

    Raises:
        OSError: The engine does not work here; the text says why.
    """
    variables = _own_storage(directory) if engine == "podman" else {}
    with tarfile.open(directory / "image.tar", "w") as archive:
        for path in sorted(_files()):
            archive.add(path, recursive=False)
    done = subprocess.run(
        [engine, "import", "--change", f"ENV PATH={_PATH}", str(directory / "image.tar"), IMAGE],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=_BUILDING, check=False,
    )  # fmt: skip
    (directory / "image.tar").unlink()
    if done.returncode:
        raise OSError(0, done.stderr.strip().splitlines()[-1])
    return variables


def remove_image(engine: str, variables: dict[str, str]) -> None:
    """Remove the image; for Podman with its storage, whose mounts nobody else can lift."""
    words = ["system", "reset", "--force"] if engine == "podman" else ["rmi", IMAGE]
    subprocess.run([engine, *words], env={**os.environ, **variables}, stdout=subprocess.DEVNULL, check=False)


def _own_storage(directory: Path) -> dict[str, str]:
    """The variables that give Podman a storage of its own."""
    store = f'[storage]\ndriver = "overlay"\ngraphroot = "{directory}/graph"\nrunroot = "{directory}/run"\n'
    (directory / "storage.conf").write_text(store, encoding="utf-8")
    variables = {"CONTAINERS_STORAGE_CONF": str(directory / "storage.conf")}
    if shutil.which("runc"):  # crun refuses machines with both kinds of control groups
        (directory / "containers.conf").write_text('[engine]\nruntime = "runc"\n', encoding="utf-8")
        variables["CONTAINERS_CONF"] = str(directory / "containers.conf")
    return variables


def _files() -> set[str]:
    """The programs with all that they load, and the links that lead to them."""
    found: set[str] = set()
    for name in _PROGRAMS:
        if path := shutil.which(name, path=_PATH):
            found |= set(_with_links(path))
    python = shutil.which("python3", path=_PATH) or sys.executable
    source = Path(program.__file__).read_text(encoding="utf-8").partition('if __name__ == "__main__"')[0]
    found |= set(_printed([python, "-I", "-S", "-c", f"{source}\n{_MODULES}"]))
    binaries = [path for path in found if Path(path).is_file() and not path.endswith(".py")]
    libraries = _LIBRARY.findall("\n".join(_printed(["ldd", *binaries])))
    for path in ("/bin", "/lib", "/lib64", *libraries):
        found |= set(_with_links(path))
    return {path for path in found if path.startswith("/")}


def _with_links(path: str) -> Iterator[str]:
    """A path, and what each link on the way leads to."""
    parent = str(Path(path).parent.resolve())
    place = str(Path(parent) / Path(path).name)
    yield place
    if Path(place).is_symlink():
        yield from _with_links(str(Path(parent) / Path(place).readlink()))


def _printed(argv: list[str]) -> list[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.splitlines()

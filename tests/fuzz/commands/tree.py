"""The project that lines run in, and the home directory beside it: ordinary files, and every trap a clone can hold."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ARENA = Path("/tmp/arena")  # in a file system of our own; the same path each time, since lines name it
PROJECT = ARENA / "project"
UNPACKED = ARENA / "unpacked"  # the same project, out of an archive: its own git configuration is hostile
HOME = ARENA / "home"
OUTSIDE = ARENA / "outside"
CANARY = "CANARY7f3a"  # stands in every secret
MANY = 2100  # files of one folder

_MARK = "#!/bin/sh\necho ran >> /tmp/arena/RAN\n"
"""A program of the project. Nothing that only reads starts one."""

_FILES: Mapping[str, str] = {
    "README.md": "# hello\n\nword count 3\nx=1\n",
    "Makefile": "all test version help:\n\t@echo ran >> /tmp/arena/RAN\n$(shell echo ran >> /tmp/arena/RAN)\n",
    "conftest.py": "open('/tmp/arena/RAN', 'a')\n",
    "sitecustomize.py": "open('/tmp/arena/RAN', 'a')\n",
    "version": _MARK,
    "package.json": '{"name": "x", "version": "1.0.0", "scripts": {"test": "echo ran >> /tmp/arena/RAN"}}\n',
    ".yarnrc": 'yarn-path "./run"\n',
    ".npmrc": "script-shell=./run\n",
    "rust-toolchain.toml": '[toolchain]\npath = "/tmp/arena/project/evil"\n',
    "data.json": '{"a": [1, 2, {"b": "c"}], "env": 1}\n',
    "data.csv": "a,b\n1,2\n3,4\n",
    "src/app.py": "import os\n\n\ndef main():\n    # TODO x\n    print('hello')\n",
    "src/util.py": "def helper():\n    return 1\n",
    "src/deep/er/most.py": "x = 1\n",
    "tests/test_app.py": "def test_x():\n    assert True\n",
    "docs/a b.md": "two words\n",
    "docs/b zkey": "a name that becomes two words\n",
    "run": _MARK,
    "ls": _MARK,
    "cat": _MARK,
    "evil/run": _MARK,
    "evil/.gitconfig": "[core]\n\tfsmonitor = /tmp/arena/project/run\n\tpager = /tmp/arena/project/run\n",
    "list": "/tmp/arena/home/.ssh/id_ed25519\0",
    "opts": "/tmp/arena/home/.ssh/id_ed25519\n",
    "payload.txt": "a[$(touch PWNED)]\n$(touch PWNED)\n`touch PWNED`\n",
    "names.txt": "README.md\nkeys.txt\n-delete\n--pre=./run\n$(touch PWNED)\n",
    "x.sed": "w PWNED\n1e touch PWNED\n",
    "x.awk": 'BEGIN { system("touch PWNED"); print "x" > "PWNED" }\n',
    "x.jq": "env\n",
    "magic": "0 string x evil\n",
    "$(touch PWNED)": "x\n",
    "`touch PWNED`": "x\n",
    "a[$(touch PWNED)]": "x\n",
    "a\nb": "x\n",
    ";touch PWNED": "x\n",
    "-rf": "x\n",
    "-n": "x\n",
    "-delete": "x\n",
    "-exec": "x\n",
    "-o": "x\n",
    "-f": "x\n",
    "-Tl": "x\n",
    "--pre=run": "x\n",
    "--output=PWNED": "x\n",
    "--compress-program=run": "x\n",
    "--files0-from=list": "x\n",
    "--help": "x\n",
    "--ext-diff": "x\n",
    "\u00a0": "x\n",
    **{
        f"evil/{name}": _MARK for name in ("ls", "cat", "git", "grep", "rg", "head", "wc", "sort", "sed", "awk", "find")
    },
}
_PLAIN = (
    "README.md", "package.json", "data.json", "data.csv", "src/app.py", "src/util.py", "src/deep/er/most.py",
    "tests/test_app.py", "docs/a b.md",
)  # fmt: skip
_LINKS: Mapping[str, str] = {
    "keys.txt": "home/.ssh/id_ed25519",
    "-k": "home/.ssh/id_ed25519",
    "zkey": "home/.ssh/id_ed25519",
    "elsewhere": "outside",
    "src/deep/er/link": "outside/secret.txt",
    "src/deep/key.py": "home/.ssh/id_ed25519",
    "d1/a": "outside/secret.txt",
    "d1/README.md": "home/.ssh/id_ed25519",
    "d2/a": "home/.ssh/id_ed25519",
    "many/key": "home/.ssh/id_ed25519",
    "dangling": "nothing",
}
_HOME_FILES: Mapping[str, str] = {
    ".ssh/id_ed25519": CANARY,
    ".ssh/config": CANARY,
    ".aws/credentials": CANARY,
    ".netrc": CANARY,
    ".config/gh/hosts.yml": CANARY,
    "notes.txt": CANARY,
    ".bashrc": "echo ran >> /tmp/arena/RAN\n",
    ".gitconfig": '[user]\n\tname = A\n\temail = a@example.org\n[protocol "file"]\n\tallow = always\n',
}
_HOSTILE = {
    "core.fsmonitor": "/tmp/arena/project/run",
    "core.pager": "/tmp/arena/project/run",
    "core.sshCommand": "/tmp/arena/project/run",
    "core.editor": "/tmp/arena/project/run",
    "core.hooksPath": "/tmp/arena/project/evil",
    "diff.external": "/tmp/arena/project/run",
    "diff.evil.textconv": "/tmp/arena/project/run",
    "diff.evil.command": "/tmp/arena/project/run",
    "filter.evil.clean": "/tmp/arena/project/run",
    "filter.evil.smudge": "/tmp/arena/project/run",
    "filter.evil.process": "/tmp/arena/project/run",
    "gpg.program": "/tmp/arena/project/run",
    "log.showSignature": "true",
    "alias.x": "!/tmp/arena/project/run",
    "credential.helper": "/tmp/arena/project/run",
    "pager.log": "/tmp/arena/project/run",
    "pager.status": "/tmp/arena/project/run",
    "trailer.x.command": "/tmp/arena/project/run",
    "uploadpack.packObjectsHook": "/tmp/arena/project/run",
}


def watched() -> list[Path]:
    """The files that only a question may open, and their folders."""
    secrets = [HOME / name for name, text in _HOME_FILES.items() if text == CANARY]
    return [*secrets, OUTSIDE / "secret.txt", HOME / ".ssh"]


def plant(base: Path = ARENA, *, user: int | None = None) -> None:
    """Make everything below `base`, owned by `user` when one is given."""
    project, home, outside = base / "project", base / "home", base / "outside"
    _write(home, _HOME_FILES, base=base)
    _write(outside, {"secret.txt": CANARY, "README.md": "outside\n"}, base=base)
    _write(project, _FILES, base=base)
    _write(project, {f"many/{number:04}.txt": "x\n" for number in range(MANY)}, base=base)
    for name, target in _LINKS.items():
        (project / name).parent.mkdir(exist_ok=True, parents=True)
        (project / name).symlink_to(base / target)
    own(base, user=user)
    _Repositories(base, user=user).plant()
    own(base, user=user)


def plant_plain(base: Path) -> None:
    """Make a project as most are, without any trap, and a home directory."""
    project = base / "project"
    _write(base / "home", _HOME_FILES, base=base)
    _write(project, {name: _FILES[name] for name in _PLAIN}, base=base)
    _Repositories(base, user=None).plain()


def _write(root: Path, files: Mapping[str, str], *, base: Path) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text.replace(str(ARENA), str(base)), "utf-8")
        path.chmod(0o755 if text == _MARK else 0o644)


def own(root: Path, *, user: int | None) -> None:
    """Give everything below `root` to `user`."""
    for folder, folders, files in os.walk(root) if user is not None else ():
        for name in (".", *folders, *files):
            os.chown(Path(folder, name), user or 0, user or 0, follow_symlinks=False)


class _Repositories:
    """The project's own, a bare one and a submodule inside it that are hostile, and the copy that is hostile itself."""

    def __init__(self, base: Path, *, user: int | None) -> None:
        self._base = base
        self._user = user

    def plain(self) -> None:
        """Make the project's own."""
        project = self._base / "project"
        self._git("init", "-q", "-b", "main", at=project)
        self._git("config", "core.checkStat", "minimal", at=project)  # a restored tree has other inodes
        self._git("config", "core.trustctime", "false", at=project)
        self._git("add", "README.md", "src/app.py", "src/util.py", at=project)
        self._git("commit", "-q", "-m", "first", at=project)
        (project / "src/util.py").write_text("def helper():\n    return 2\n", "utf-8")
        self._git("commit", "-q", "-am", "second", at=project)
        self._git("tag", "v1.0", at=project)
        self._git("branch", "feature", at=project)
        (project / "src/app.py").write_text("import os\n\n\ndef main():\n    print('changed')\n", "utf-8")

    def plant(self) -> None:
        """Make them all."""
        self.plain()
        project = self._base / "project"
        vendor = project / "vendor"
        vendor.mkdir()
        own(vendor, user=self._user)
        self._git("init", "-q", "--bare", "bare", at=vendor)
        self._git("clone", "-q", "--no-hardlinks", str(project), "module", at=vendor)
        for folder in (vendor / "bare", vendor / "module"):
            self._make_hostile(folder, folder / (".git/config" if folder.name == "module" else "config"))
        self._git("config", "core.bare", "false", at=vendor / "bare")
        self._git("config", "core.worktree", "..", at=vendor / "bare")
        unpacked = self._base / "unpacked"
        shutil.copytree(project, unpacked, symlinks=True, ignore=shutil.ignore_patterns("many", "vendor"))
        self._make_hostile(unpacked, unpacked / ".git/config")

    def _make_hostile(self, folder: Path, config: Path) -> None:
        with config.open("a", encoding="utf-8") as file:
            for name, what in _HOSTILE.items():
                section, _, key = name.rpartition(".")
                head, _, tail = section.partition(".")
                setting = f"{key} = {what.replace(str(ARENA), str(self._base))}"
                file.write(f'[{head} "{tail}"]\n\t{setting}\n' if tail else f"[{head}]\n\t{setting}\n")
        (folder / ".gitattributes").write_text("* diff=evil filter=evil\n", "utf-8")

    def _git(self, *arguments: str, at: Path) -> None:
        environment = {"HOME": str(self._base / "home"), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
        who: Any = {} if self._user is None else {"user": self._user, "group": self._user, "extra_groups": []}
        subprocess.run(["git", *arguments], cwd=at, env=environment, check=True, **who)

"""Files of a project that make programs of this machine run something, so that writing them is as good as running it.

They are asked about in every mode. What belongs here runs although nobody builds or tests the project: an editor or an
agent opens the folder, a shell enters it, a version manager or a package manager is asked for anything at all, git
looks at its state, a program of an environment is called by its bare name.

What is not here, although it holds commands: the project's own code, build files and tests (Makefile, package.json,
conftest.py), which run when the person or an allowed command builds or tests; what runs on other machines
(.github/workflows); .gitattributes and .gitmodules, which only choose among programs that git's settings name. Asking
about those would make every other edit a question, and questions that always come are answered without reading.
"""

import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from claw_acp.security.shell_command import names

_NAMES = names(
    """
    .git .hg .svn .jj .bzr .githooks .husky .gitconfig .pre-commit-config.yaml .pre-commit-config.yml
    .lefthook lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml lefthook.toml .overcommit.yml
    .claw .mcp.json .claude .claude.json .cursor .gemini .codex .opencode opencode.json opencode.jsonc .windsurf .kiro
    .roo .continue .amazonq .qwen .crush.json crush.json .aider.conf.yml
    .vscode .idea .zed .fleet .helix .theia .devcontainer .devcontainer.json .dir-locals.el .dir-locals-2.el
    .exrc .vimrc .nvimrc .nvim.lua .lvimrc .gdbinit .lldbinit .irbrc .pryrc
    .envrc .direnv .tool-versions mise.toml .mise.toml mise.local.toml .mise.local.toml .mise .rtx.toml
    .yarnrc .yarnrc.yml .yarn .npmrc .pnpmfile.cjs .pnpmfile.mjs .pnp.cjs .pnp.loader.mjs bunfig.toml .bundle
    .cargo rust-toolchain rust-toolchain.toml node_modules .venv venv .tox .nox
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .kshrc .cshrc .tcshrc .login .inputrc .xprofile .xinitrc .xsessionrc .tmux.conf .screenrc
    """
)
_SHAPES = ("*.code-workspace", ".vimrc.*", ".pre-commit-config.*")
_HEAD = "head"  # the one file without which a folder is no repository


def guarded(path: Path, *, roots: Sequence[Path]) -> str | None:
    """Why a write to a resolved path inside the roots is asked about in every mode, or None."""
    for root in roots:
        if path.is_relative_to(root):
            reason = guarded_by_name(path.relative_to(root)) or _guarded_by_place(path, root=root)
            if reason:
                return reason
    return None


def guarded_by_name(relative: Path) -> str | None:
    """Why a write is asked about, as far as the names in its path tell, or None."""
    for part in relative.parts:
        name = _folded(part)
        if name in _NAMES or any(fnmatchcase(name, shape) for shape in _SHAPES):
            return f"{part} can make other programs run commands"
    if _folded(relative.name) == _HEAD:
        return f"a file {relative.name} can make its folder a repository, with commands that git runs"
    return None


def _guarded_by_place(path: Path, *, root: Path) -> str | None:
    """Bare repositories and environments have any name; what lies in them tells."""
    folders = (folder for folder in (path, *path.parents) if folder.is_relative_to(root))
    for folder in folders:
        if all((folder / name).exists() for name in ("HEAD", "objects", "refs")):
            return f"{folder.name} is a git repository, with commands that git runs"
        if (folder / "pyvenv.cfg").exists() or (folder / "conda-meta").is_dir():
            return f"{folder.name} is an environment, whose programs are called by their bare names"
    return None


@lru_cache(maxsize=4096)
def _folded(name: str) -> str:
    """Without case, and without what some file systems leave out of a name."""
    plain = "".join(mark for mark in unicodedata.normalize("NFKC", name) if unicodedata.category(mark) != "Cf")
    return plain.casefold().rstrip(". ")

"""Names of files from which programs of this machine run commands: see `guarded`."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from claw_acp.security.shell_command import names

_VERSION_CONTROL = """
    .git .hg .hgrc .svn .jj .bzr .sl _darcs .repo .gitconfig .githooks .git-hooks .hooks .husky .overcommit
    .overcommit.yml .lefthook lefthook.json .lefthook.json lefthook-local.json captainhook.json prek.toml .prek.toml
    """
_EDITORS = """
    .vscode .idea .zed .fleet .helix .theia .nova .vs .run .settings .project .devcontainer .devcontainer.json .bsp
    .dir-locals.el .dir-locals-2.el .exrc .vimrc .nvimrc .lvimrc .nvim.lua .lazy.lua .local.vimrc .vim .nvim
    .vimspector.json .ycm_extra_conf.py .kakrc.local .luarc.json .luarc.jsonc hie.yaml rust-analyzer.toml
    .rust-analyzer.toml
    """
_AGENTS = """
    .claw .mcp.json mcp.json .claude .claude.json .cursor .gemini .codex .copilot .opencode opencode.json opencode.jsonc
    .windsurf .kiro .roo .continue .amazonq .qwen .crush .crush.json crush.json .aider.conf.yml .openhands .factory
    .augment .trae .junie .goose .clinerules .kilocode .vibe .grok .pi .amp .codebuddy .iflow heartbeat.md
    """
_SHELLS_AND_ENVIRONMENTS = """
    .envrc .env.fish .direnv .autoenv .in .out .shadowenv.d .rvmrc .hermit activate-hermit .flox devbox.json devenv.nix
    devenv.local.nix devenv.yaml shell.nix flake.nix .tool-versions mise.toml .mise.toml .mise .rtx.toml .pdm-python
    .venv venv .tox .nox .bundle .bazelrc .bazeliskrc .cargo rust-toolchain rust-toolchain.toml
    .yarnrc .yarnrc.yml .yarn .npmrc .pnpmfile.cjs .pnpmfile.mjs .pnp.cjs .pnp.loader.mjs bunfig.toml node_modules
    """
_INTERPRETERS = """
    .rprofile .renviron .rdata .ghci .ocamlinit .iex.exs .octaverc .pdbrc .pdbrc.py .byebugrc .irbrc .pryrc .gdbinit
    .lldbinit
    """
_HOMES = """
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .kshrc .cshrc .tcshrc .login .inputrc .xprofile .xinitrc .xsessionrc .tmux.conf .screenrc
    """
_NAMES: Final = names(_VERSION_CONTROL + _EDITORS + _AGENTS + _SHELLS_AND_ENVIRONMENTS + _INTERPRETERS + _HOMES)
_MADE_BY_TOOLS: Final = names(
    """.venv venv .tox .nox .bundle .yarn .cargo node_modules .pdm-python .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs
    .pnpmfile.mjs"""
)
"""Those that package managers write: commands must be able to."""

_SHAPES: Final = re.compile(
    r""".*\.(code-workspace|sublime-project|rproj)|\.?vimrc\..*|\.autoenv\..*|\.huskyrc.*|\.?lefthook.*\.(ya?ml|toml|json)
    |\.pre-commit-config\..*|\.?simple-git-hooks\..*|\.?mise\..*toml""",
    re.VERBOSE,
)
_PAIRS: Final = frozenset({("mise", "config.toml"), ("tools", "bazel"), (".github", "hooks"), (".config", "mise")})
_HEAD: Final = "head"  # the one file without which a folder is no repository


def guarded_by_name(relative: PurePath) -> str | None:
    """The reason a write is asked about, by the names in its path, or None."""
    folded = [_folded(part) for part in relative.parts]
    for part, name in zip(relative.parts, folded, strict=True):
        if name in _NAMES or _SHAPES.fullmatch(name):
            return f"{part} can make other programs run commands"
    for pair in pairwise(folded):
        if pair in _PAIRS:
            return f"{'/'.join(pair)} can make other programs run commands"
    if folded and folded[-1] == _HEAD:
        return f"a file {relative.name} can make its folder a repository, with commands that git runs"
    return None


def guarded_name(name: str) -> bool:
    """Return whether a name is guarded in any directory."""
    return (folded := _folded(name)) in _NAMES or _SHAPES.fullmatch(folded) is not None


def protected_name(name: str, *, within: str) -> bool:
    """Return whether commands in a sandbox may not change what has this name in a directory with that name."""
    folded = _folded(name)
    return (guarded_name(name) and folded not in _MADE_BY_TOOLS) or (_folded(within), folded) in _PAIRS


@lru_cache(maxsize=4096)
def _folded(name: str) -> str:
    """The name in lower case, without what some file systems leave out."""
    if name.isascii():
        return name.casefold().rstrip(". ")
    plain = "".join(mark for mark in unicodedata.normalize("NFKC", name) if unicodedata.category(mark) != "Cf")
    return plain.casefold().rstrip(". ")

"""Repositories out of an archive, each with another way to make git run something or look elsewhere."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fuzz.commands.tree import own

RUN = "/tmp/arena/project/run"
KEY = "/tmp/arena/home/.ssh/id_ed25519"

CONFIGS: Mapping[str, str] = {
    "fsmonitor": f"[core]\n\tfsmonitor = {RUN}\n",
    "upper": f"[CORE]\nFSMONITOR={RUN}\n",
    "one-line": f"[core] fsmonitor = {RUN}\n",
    "quoted": f'[core]\n fsmonitor = "{RUN[:9]}"{RUN[9:]}\n',
    "continued": f"[core]\n fsmonitor = {RUN[:9]}\\\n{RUN[9:]}\n",
    "mark": f"\ufeff[core]\n fsmonitor = {RUN}\n",
    "no-space": f"[core]fsmonitor={RUN}#x\n",
    "carriage": f"[core]\r\n\tfsmonitor = {RUN}\r\n",
    "hooks-path": "[core]\n hooksPath = /tmp/arena/project/evil\n",
    "textconv": f'[diff "evil"]\n textconv = {RUN}\n',
    "textconv-dotted": f"[diff.evil]\n textconv = {RUN}\n",
    "external": f"[diff]\n external = {RUN}\n",
    "command": f'[diff "evil"]\n command = {RUN}\n',
    "clean": f'[filter "evil"]\n clean = {RUN}\n required\n',
    "process": f'[filter "evil"]\n process = {RUN}\n',
    "smudge": f'[filter "evil"]\n smudge = {RUN}\n',
    "merge": f'[merge "evil"]\n driver = {RUN}\n',
    "gpg": f"[gpg]\n program = {RUN}\n[log]\n showSignature = true\n",
    "gpg-openpgp": f'[gpg "openpgp"]\n program = {RUN}\n',
    "gpg-ssh": f'[gpg]\n format = ssh\n[gpg "ssh"]\n program = {RUN}\n allowedSignersFile = {KEY}\n',
    "gpg-x509": f'[gpg "x509"]\n program = {RUN}\n',
    "include": "[include]\n path = ../evil.config\n",
    "include-absolute": "[include]\n path = {HERE}/evil.config\n",
    "include-if": '[includeIf "gitdir:**"]\n path = ../evil.config\n',
    "include-branch": '[includeIf "onbranch:**"]\n path = ../evil.config\n',
    "include-remote": '[remote "x"]\n url = x\n[includeIf "hasconfig:remote.*.url:**"]\n path = ../evil.config\n',
    "worktree-config": "[extensions]\n worktreeConfig = true\n",
    "worktree": "[core]\n worktree = /tmp/arena/home\n",
    "worktree-up": "[core]\n worktree = ../../home\n",
    "attributes": f'[core]\n attributesFile = {KEY}\n[diff "evil"]\n textconv = {RUN}\n',
    "excludes": f"[core]\n excludesFile = {KEY}\n",
    "ignore-revs": f"[blame]\n ignoreRevsFile = {KEY}\n",
    "mailmap": f"[mailmap]\n file = {KEY}\n",
    "order-file": f"[diff]\n orderFile = {KEY}\n",
    "pager": f"[core]\n pager = {RUN}\n[pager]\n log = {RUN}\n diff = {RUN}\n status = {RUN}\n show = {RUN}\n",
    "alias": f'[alias]\n status = "!{RUN}"\n log = "!{RUN}"\n lg = "!{RUN}"\n',
    "editor": f"[core]\n editor = {RUN}\n askPass = {RUN}\n sshCommand = {RUN}\n gitProxy = {RUN}\n",
    "alternates": f"[core]\n alternateRefsCommand = {RUN}\n",
    "promisor": '[core]\n repositoryformatversion = 1\n[extensions]\n partialClone = origin\n[remote "origin"]\n'
    f" url = /tmp/arena/project\n promisor = true\n uploadpack = {RUN}\n",
    "promisor-ssh": '[core]\n repositoryformatversion = 1\n[extensions]\n partialClone = origin\n[remote "origin"]\n'
    f" url = ssh://localhost/x\n promisor = true\n[core]\n sshCommand = {RUN}\n",
    "submodule": "",
    "submodule-summary": "[status]\n submoduleSummary = true\n[diff]\n submodule = diff\n",
    "git-file": "",
    "git-link": "",
    "common-dir": "",
    "nested": "",
    "help": f'[help]\n format = web\n[web]\n browser = x\n[browser "x"]\n cmd = {RUN}\n[man]\n viewer = x\n'
    f'[man "x"]\n cmd = {RUN}\n',
    "signed-only": "",
}
"""What is added to `.git/config`, by the name of the repository."""

_EVIL = f'[core]\n fsmonitor = {RUN}\n[diff "evil"]\n textconv = {RUN}\n[filter "evil"]\n clean = {RUN}\n'

LINES = (
    "git status",
    "git status -s",
    "git status --ignored",
    "git diff",
    "git diff --stat",
    "git diff HEAD~1",
    "git diff --cached",
    "git diff -- README.md",
    "git log --oneline",
    "git log -p -3",
    "git log --stat",
    "git log --format='%h %G?' -5",
    "git log --show-signature -2",
    "git log --remerge-diff -p -3",
    "git log -S x",
    "git log --alternate-refs",
    "git log -p --submodule=diff",
    "git log -L1,1:README.md",
    "git show",
    "git show --stat",
    "git show HEAD:README.md",
    "git show --remerge-diff",
    "git show --format=%GG",
    "git blame README.md",
    "git grep --untracked CANARY",
    "git grep x",
    "git ls-files -o",
    "git ls-files -m",
    "git ls-files -s",
    "git describe --always --dirty",
    "git branch -vv",
    "git stash list",
    "git stash show -p",
    "git cat-file -p HEAD",
    "git cat-file blob HEAD:README.md",
    "git rev-parse HEAD",
    "git rev-list --objects HEAD",
    "git rev-list --alternate-refs HEAD",
    "git submodule status",
    "git diff --submodule=log",
    "git diff --submodule=diff",
    "git shortlog HEAD",
    "git tag",
    "git tag -l",
    "git reflog",
    "git config --list",
    "git remote -v",
    "git worktree list",
    "git diff-index HEAD",
    "git diff-tree -p HEAD",
    "git whatchanged -2 -p",
    "git for-each-ref",
    "git check-ignore -v README.md",
    "git annotate README.md",
    "git merge-base HEAD HEAD~1",
    "git lg",
    "git help status",
    "git log --help",
    "git diff --no-index README.md x",
    "cd sub && git status",
    "git -C sub diff",
    "git -C sub log -p",
    "cd sub; git diff",
    "cd sub/deeper && git status",
)
"""What is looked at in each of them."""


def plant(base: Path, *, user: int) -> None:
    """Make a folder `git-<name>` below `base` for each of `CONFIGS`, as `user`."""
    template = base / "git-template"
    subprocess.run(["sh", "-ec", _TEMPLATE], check=True, env=_environment(base), cwd=base, **_who(user))
    for name, config in CONFIGS.items():
        folder = base / f"git-{name}"
        subprocess.run(["cp", "-a", str(template), str(folder)], check=True, **_who(user))
        with (folder / ".git/config").open("a", encoding="utf-8", newline="") as file:
            file.write(config.replace("{HERE}", str(folder)))
        (folder / "evil.config").write_text(_EVIL, "utf-8")
        _special(folder, name)
        own(folder, user=user)  # git refuses what belongs to somebody else
    shutil.rmtree(template)


def _special(folder: Path, name: str) -> None:
    """What is more than a setting."""
    git = folder / ".git"
    match name:
        case "worktree-config":
            (git / "config.worktree").write_text(_EVIL, "utf-8")
        case "alternates":
            (git / "objects/info/alternates").write_text("/tmp/arena/project/.git/objects\n", "utf-8")
        case "promisor" | "promisor-ssh":
            for pack in [*git.glob("objects/??/*")][::3]:
                pack.unlink()
        case "submodule" | "submodule-summary":
            with (folder / "sub/.git/config").open("a", encoding="utf-8") as file:
                file.write(_EVIL)
        case "git-file" | "git-link" | "nested":
            moved = folder / ("sub/deeper/x" if name == "nested" else "hidden")
            moved.parent.mkdir(exist_ok=True)
            shutil.copytree(git, moved)
            with (moved / "config").open("a", encoding="utf-8") as file:
                file.write(_EVIL)
            if name == "nested":
                (folder / "sub/deeper/.git").write_text("gitdir: x\n", "utf-8")
                return
            shutil.rmtree(git)
            if name == "git-file":
                git.write_text("gitdir: hidden\n", "utf-8")
            else:
                git.symlink_to("hidden")
        case "common-dir":
            shutil.copytree(git, folder / "hidden")
            with (folder / "hidden/config").open("a", encoding="utf-8") as file:
                file.write(_EVIL)
            (git / "commondir").write_text("../hidden\n", "utf-8")
        case _:
            pass


def _environment(base: Path) -> dict[str, str]:
    return {"HOME": str(base / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}


def _who(user: int) -> Any:
    return {"user": user, "group": user, "extra_groups": []}


_TEMPLATE = """
mkdir git-template; cd git-template
git init -q -b main .
git config core.checkStat minimal; git config core.trustctime false
printf '* diff=evil filter=evil merge=evil\\n' > .gitattributes
printf 'x\\n' > README.md; printf 'y\\n' > x
git init -q -b main sub
git -C sub config core.checkStat minimal; git -C sub config core.trustctime false
(cd sub; printf 's\\n' > s; printf '* diff=evil filter=evil\\n' > .gitattributes; git add .; git commit -q -m sub)
git add . 2>/dev/null; git commit -q -m one
git checkout -q -b side; printf 'side\\n' > README.md; git commit -q -am side
git checkout -q main; printf 'main\\n' > README.md; git commit -q -am main
git merge -q side >/dev/null 2>&1 || { printf 'both\\n' > README.md; git commit -q -am both; }
tree=$(git rev-parse HEAD^{tree}); parent=$(git rev-parse HEAD)
when='A <a@example.org> 1700000000 +0000'
signature='-----BEGIN PGP SIGNATURE-----\\n \\n iQ==\\n -----END PGP SIGNATURE-----'
signed=$(printf "tree $tree\\nparent $parent\\nauthor $when\\ncommitter $when\\ngpgsig $signature\\n\\nsigned\\n" |
  git hash-object -t commit -w --stdin)
git update-ref refs/heads/main "$signed"
printf 'stashed\\n' > x; git stash -q
printf 'changed\\n' > README.md; printf 't\\n' >> sub/s
mkdir -p sub/deeper; mkdir -p .git/hooks
printf '#!/bin/sh\\necho ran >> /tmp/arena/RAN\\n' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change
"""

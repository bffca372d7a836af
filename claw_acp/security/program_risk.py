"""What the programs of this world do, and with which words they do harm.

A risk is a level and the end of a sentence that begins with the command: "deletes files recursively".
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from claw_acp.security.forbidden import harmless_device
from claw_acp.security.shell_command import names
from claw_acp.security.shell_wrappers import git_arguments

Level = Literal["read_only", "low", "medium", "high"]
Risk: TypeAlias = tuple[Level, str]
Words = tuple[str, ...]


def program_risk(program: str, words: Words) -> Risk:
    """The risk of running `program` with `words`; a word that is known only at run time is given as NUL."""
    name = program.casefold()
    for known in (name, re.sub(r"[\d.]+$", "", name), name.partition(".")[0]):
        judge = JUDGES.get(known)
        found = (judge(words) if judge else None) or FIXED.get(known)
        if found:
            return found
    for value in (word.rpartition("=")[2] for word in words):
        if value.startswith("/dev/") and not harmless_device(value):
            return "high", "uses a device of this machine"
    return "medium", "runs a program that can do anything you can"


# ------------------------------------------------------------------ programs with one meaning

FIXED: dict[str, Risk] = {}


def _same(level: Level, reason: str, programs: str) -> None:
    FIXED.update(dict.fromkeys(programs.split(), (level, reason)))


_same("high", "runs as another user", "sudo doas su pkexec runuser")
_same("high", "destroys data on a disk", "mkfs fdisk parted wipefs shred mkswap diskutil sgdisk format")
_same("high", "stops or restarts the machine", "shutdown reboot halt poweroff init")
_same("high", "changes accounts", "useradd userdel usermod groupadd passwd chpasswd visudo adduser deluser dscl")
_same(
    "high",
    "changes how the machine works",
    "mount umount iptables nft ufw systemctl service launchctl sysctl modprobe insmod",
)
_same("high", "plans commands for later", "crontab at batch")
_same("high", "talks to another machine", "ssh scp sftp rsync nc ncat netcat telnet ftp tftp socat rclone")
_same("high", "stops programs of this machine", "killall pkill")
_same("high", "sends data to the cloud", "aws gcloud az gsutil s3cmd doctl")
_same("medium", "downloads from the network", "wget http https xh aria2c yt-dlp")
_same("medium", "stops a program", "kill")
_same("medium", "shows all environment variables", "env printenv export set declare")
_same("medium", "runs a script in the shell", "source . sh bash dash zsh ksh ash")
_same("medium", "moves or overwrites files", "mv cp ln install tee truncate patch unzip tar rsync split")
_same("medium", "writes to a file or disk", "dd")
_same("medium", "removes directories", "rmdir")
_same("medium", "changes permissions", "chmod chown chgrp setfacl")
_same("low", "creates files", "touch mkdir mktemp")
_same(
    "low",
    "builds or checks the project",
    "pytest ruff mypy pyright tsc eslint prettier black tox jest vitest shellcheck ctest",
)
_same(
    "medium",
    "runs the project's own commands",
    "make cmake ninja just task gradle mvn npm pnpm yarn npx cargo go dotnet rake bundle",
)


# ------------------------------------------------------------------ programs whose words decide


def _short(words: Words, letter: str) -> bool:
    return any(re.fullmatch(r"-[A-Za-z0-9]+", word) and letter in word for word in words)


def _rm(words: Words) -> Risk:
    if _short(words, "r") or _short(words, "R") or any(len(w) > 2 and "--recursive".startswith(w) for w in words):
        return "high", "deletes files recursively"
    if any("\0" in word for word in words):
        return "high", "deletes files whose names are known only when it runs"
    if any(re.search(r"[*?\[]", word) or word in {"/", "~", ".", ".."} for word in words):
        return "high", "deletes many files at once"
    return "medium", "deletes files"


def _chmod(words: Words) -> Risk | None:
    if _short(words, "R") or "--recursive" in words:
        return "high", "changes permissions of whole directories"
    return (
        ("high", "lets a program run as another user")
        if any(re.search(r"\+.*s|^[4267]\d{3}$", w) for w in words)
        else None
    )


def _dd(words: Words) -> Risk | None:
    target = next((word[3:] for word in words if word.startswith("of=")), "")
    return (
        ("high", "writes to a disk or device") if target.startswith("/dev/") and not harmless_device(target) else None
    )


def _find(words: Words) -> Risk | None:
    if "-delete" in words:
        return "high", "deletes every file it finds"
    return (
        ("medium", "runs a command for every file it finds")
        if any(w.startswith(("-exec", "-ok")) for w in words)
        else None
    )


_GIT_REWRITES: Mapping[str, re.Pattern[str]] = {
    "push": re.compile(r"-f|--force.*|--mirror|--delete|-d|--prune|[+:].*"),
    "reset": re.compile(r"--hard|--merge|--keep"),
    "clean": re.compile(r"-.*"),
    "commit": re.compile(r"--amend"),
    "branch": re.compile(r"-D|-d|-M|-C|-f|--delete|--force"),
    "tag": re.compile(r"-d|--delete|-f|--force"),
    "checkout": re.compile(r"-f|--force|\.|--"),
    "switch": re.compile(r"-f|--force|--discard-changes|-C"),
    "restore": re.compile(r".*"),
    "stash": re.compile(r"drop|clear"),
    "reflog": re.compile(r"expire|delete"),
    "gc": re.compile(r"--prune.*|--aggressive"),
    "worktree": re.compile(r"remove|prune"),
    "rebase": re.compile(r".*"),
    "filter-repo": re.compile(r".*"),
    "replace": re.compile(r".*"),
    "update-ref": re.compile(r".*"),
}
_GIT_SETTINGS = re.compile(
    r"(?i)(alias|core|filter|diff|merge|pager|credential|include\w*|url|http|remote|gpg|sequence|init)\b.*"
)


def _git(words: Words) -> Risk:
    arguments = git_arguments(("git", *words))[1:]
    subcommand = str(arguments[0]) if arguments else ""
    rest = [str(word) for word in arguments[1:]]
    if subcommand in _GIT_REWRITES and any(
        _GIT_REWRITES[subcommand].fullmatch(word) for word in (*rest, *_clusters(rest))
    ):
        return "high", "rewrites git history or discards work"
    if subcommand == "rebase":
        return "high", "rewrites git history or discards work"
    if subcommand == "config" and any(_GIT_SETTINGS.fullmatch(word) or "\0" in word for word in rest):
        return "high", "changes which programs git runs"
    if subcommand in {"push", "fetch", "pull", "clone", "ls-remote", "submodule"}:
        return "medium", "talks to another repository"
    if subcommand in {"add", "stash", "init", "mv"}:
        return "low", "changes the git index"
    return "medium", "changes the git repository"


def _clusters(words: list[str]) -> list[str]:
    """`-fd` as `-f` and `-d`."""
    return [f"-{letter}" for word in words if re.fullmatch(r"-[A-Za-z]{2,}", word) for letter in word[1:]]


_DANGEROUS_CODE = re.compile(
    r"rmtree|unlink|\bremove\b|rmdir|system|subprocess|popen|exec|spawn|eval|socket|urllib|requests|http|fetch\(|net\b|open\(|write"
    r"|FileUtils|`|shutil|__import__|\brm\b|\0",
    re.IGNORECASE,
)
_CODE_OPTION = re.compile(r"-[a-zA-Z]*[cepErR]|--eval|--print|--execute|eval|-")


def _interpreter(words: Words) -> Risk:
    for index, word in enumerate(words):
        if not word.startswith("-") and word != "eval":
            break
        if _CODE_OPTION.match(word):
            code = " ".join((word, *words[index + 1 :]))
            if _DANGEROUS_CODE.search(code) or word == "-":
                return "high", "runs code from its arguments that can delete, write or connect"
            return "medium", "runs code from its arguments"
        if word == "-m" and words[index + 1 : index + 2] == ("pip",):
            return "medium", "installs packages"
    if not words or "\0" in words[:1]:
        return "high", "runs code that it is given as input"
    return "medium", "runs a script"


def _curl(words: Words) -> Risk:
    sends = re.compile(r"-[a-zA-Z]*[dFTX]|--(data|form|upload|request|json|post|body|method)")
    if any(sends.match(word) for word in words):
        return "high", "sends data over the network"
    if any(re.match(r"-[a-zA-Z]*[oO]|--output|--remote-name|-K|--config", word) for word in words):
        return "medium", "downloads files from the network"
    return "medium", "downloads from the network"


def _package_manager(words: Words) -> Risk | None:
    verb = next((word for word in words if not word.startswith("-")), "")
    rest = words[words.index(verb) + 1 :] if verb else ()
    if verb in {"publish", "unpublish", "deprecate", "yank", "login", "logout", "adduser", "owner", "token", "upload"}:
        return "high", "publishes to, or signs in at, a package registry"
    if verb == "config" and rest[:1] == ("set",):
        return "high", "changes the settings of the package manager"
    if verb in {
        "install",
        "i",
        "add",
        "ci",
        "update",
        "upgrade",
        "remove",
        "uninstall",
        "dlx",
        "exec",
        "get",
        "download",
        "sync",
    }:
        return "medium", "installs or removes packages, which run their own scripts"
    return (
        ("low", "builds or checks the project")
        if verb in {"test", "t", "build", "check", "lint", "vet", "fmt", "clippy"}
        else None
    )


def _system_packages(words: Words) -> Risk:
    return (
        ("high", "removes software of this machine")
        if "remove" in words or "purge" in words
        else ("medium", "installs software")
    )


def _containers(words: Words) -> Risk:
    risky = re.compile(
        r"--privileged|-v|--volume.*|--mount.*|prune|rm|rmi|delete|apply|destroy|down|push|login|exec|uninstall"
    )
    if any(risky.fullmatch(word) for word in words):
        return "high", "changes or reaches beyond containers and clusters"
    return "medium", "works with containers or clusters"


def _gh(words: Words) -> Risk:
    risky = {
        "create",
        "delete",
        "merge",
        "close",
        "edit",
        "api",
        "auth",
        "comment",
        "upload",
        "secret",
        "run",
        "release",
    }
    return (
        ("high", "acts in your name on a hosting service")
        if risky & set(words)
        else ("medium", "asks a hosting service")
    )


def _kill(words: Words) -> Risk | None:
    return ("high", "stops every program you run") if "-1" in words[1:] or "0" in words else None


def _sed(words: Words) -> Risk:
    if any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in words):
        return "medium", "changes files in place"
    return "medium", "may write files or run commands from its script"


def _tar(words: Words) -> Risk | None:
    runs = re.compile(r"--(to-command|checkpoint-action|use-compress-program|rsh-command|info-script).*|-[a-zA-Z]*[IF]")
    return ("high", "runs other programs while it packs") if any(runs.match(word) for word in words) else None


Judge = Callable[[Words], Risk | None]
JUDGES: Mapping[str, Judge] = {
    "rm": _rm,
    "unlink": _rm,
    "trash": _rm,
    "chmod": _chmod,
    "chown": _chmod,
    "chgrp": _chmod,
    "dd": _dd,
    "find": _find,
    "gfind": _find,
    "git": _git,
    "curl": _curl,
    "kill": _kill,
    "sed": _sed,
    "tar": _tar,
    "gh": _gh,
    "glab": _gh,
    **dict.fromkeys(
        names("""npm pnpm yarn npx cargo go pip pip3 uv poetry gem bundle composer twine bun deno"""),
        _package_manager,
    ),
    **dict.fromkeys(
        names("apt apt-get yum dnf pacman brew snap apk zypper port choco winget"),
        _system_packages,
    ),
    **dict.fromkeys(names("docker podman kubectl helm terraform tofu pulumi"), _containers),
    **dict.fromkeys(
        names("""python python2 python3 node nodejs perl ruby php lua Rscript osascript ts-node tsx"""),
        _interpreter,
    ),
}

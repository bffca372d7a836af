"""The risk of git, and the arguments with which it rewrites history, discards work or runs other programs."""

import re
from collections.abc import Mapping

from claw_acp.core.value import Value
from claw_acp.security.risk import Risk, Words, has_long, has_short
from claw_acp.security.shell_command import names
from claw_acp.security.shell_wrappers import git_arguments


class _Rewrites(Value):
    """The words of a subcommand that rewrite or discard something: long options, letters, and other words."""

    long: str = ""
    short: str = ""
    words: str = ""


_ALWAYS = names(
    """clean restore rebase filter-repo filter-branch replace update-ref checkout-index prune prune-packed
    fast-import"""
)
_REWRITES: Mapping[str, _Rewrites] = {
    "push": _Rewrites(
        long="--force --force-with-lease --force-if-includes --mirror --delete --prune", short="fd", words=r"[+:].*"
    ),
    "reset": _Rewrites(long="--hard --merge --keep"),
    "commit": _Rewrites(long="--amend"),
    "branch": _Rewrites(long="--delete --force --move --copy", short="DdMCf"),
    "tag": _Rewrites(long="--delete --force", short="df"),
    "checkout": _Rewrites(
        long="--force --ours --theirs --pathspec-from-file", short="fB", words=r"\.|--|:.*|.*/|.*[*?\[].*"
    ),
    "switch": _Rewrites(long="--force --discard-changes --force-create", short="fC"),
    "rm": _Rewrites(long="--force", short="rf"),
    "mv": _Rewrites(long="--force", short="f"),
    "read-tree": _Rewrites(long="--reset", short="u"),
    "merge": _Rewrites(long="--abort"),
    "am": _Rewrites(long="--abort"),
    "revert": _Rewrites(long="--abort"),
    "cherry-pick": _Rewrites(long="--abort"),
    "stash": _Rewrites(long="--include-untracked --all", short="ua", words="drop|clear"),
    "notes": _Rewrites(words="remove|prune"),
    "lfs": _Rewrites(words="prune|migrate"),
    "symbolic-ref": _Rewrites(long="--delete", short="d", words=r"refs/.*"),
    "svn": _Rewrites(words="dcommit|reset"),
    "p4": _Rewrites(words="submit|rebase"),
    "reflog": _Rewrites(words="expire|delete"),
    "gc": _Rewrites(long="--prune --aggressive"),
    "worktree": _Rewrites(long="--force", short="f", words="remove|prune"),
    "submodule": _Rewrites(long="--force", short="f", words="deinit"),
    "apply": _Rewrites(long="--unsafe-paths"),
}
_RUNS_OTHERS = (
    "--upload-pack --receive-pack --exec --extcmd --template --config --open-files-in-pager --ext-diff --textconv"
)
_NOT_THOSE = "--exclude --exclude-standard"  # abbreviations end before them
_SHORT_RUNS_OTHERS: Mapping[str, str] = {"clone": "uc", "difftool": "x", "grep": "O", "fetch": "", "archive": ""}
_SERVES = names(
    """daemon http-backend instaweb send-email maintenance credential credential-store credential-cache imap-send
    send-pack"""
)
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*:(?://|:).*|[^/]+@[^/]+:.*", re.DOTALL)
_HARMLESS_SETTING = re.compile(
    r"(?i)(color|column|advice)\.[\w.]+|user\.(name|email)|push\.(default|autosetupremote)|pull\.(rebase|ff)"
    r"|fetch\.prune|core\.(autocrlf|eol|ignorecase|quotepath|filemode|longpaths)|init\.defaultbranch|merge\.(ff|conflictstyle)"
    r"|diff\.(algorithm|renames|noprefix)|rerere\.enabled|branch\.[^.]+\.(remote|merge|rebase)|rebase\.\w+"
)


def git_risk(words: Words) -> Risk:
    """The risk of `git` with `words`."""
    arguments = git_arguments(("git", *words))[1:]
    subcommand = str(arguments[0]) if arguments else ""
    rest = tuple(str(word) for word in arguments[1:])
    if subcommand in _ALWAYS or _rewrites(subcommand, rest):
        return "high", "rewrites git history or discards work"
    if has_long(rest, _RUNS_OTHERS, but=_NOT_THOSE) or has_short(rest, _SHORT_RUNS_OTHERS.get(subcommand, "")):
        return "high", "makes git run other programs"
    if subcommand in _SERVES:
        return "high", "connects to other machines, shows logins or plans commands for later"
    if subcommand == "config":
        return _setting(rest)
    if _sends_elsewhere(subcommand, rest):
        return "high", "sends the repository to an address that is spelled out, or fetches by a program"
    if subcommand in {"push", "fetch", "pull", "clone", "ls-remote", "submodule"}:
        return "medium", "talks to another repository"
    if subcommand in {"add", "stash", "init", "mv"}:
        return "low", "changes the git index"
    return "medium", "changes the git repository"


def _sends_elsewhere(subcommand: str, words: Words) -> bool:
    if subcommand == "remote":
        return bool({"add", "set-url"} & set(words))
    addresses = [word for word in words if _ADDRESS.fullmatch(word)]
    return bool(addresses and subcommand == "push") or any("::" in word for word in addresses)


def _rewrites(subcommand: str, words: Words) -> bool:
    if subcommand == "rm" and "--cached" in words:
        return False  # the files stay
    if subcommand == "checkout" and not has_short(words, "b"):
        plain = [word for word in words if not word.startswith("-")]
        if len(plain) > 1 and not has_long(words, "--orphan --track"):
            return True  # a commit and files: these are overwritten
    risky = _REWRITES.get(subcommand)
    if risky is None:
        return False
    found = has_long(words, risky.long) or has_short(words, risky.short)
    return found or any(re.fullmatch(risky.words, word) for word in words if risky.words)


def _setting(words: Words) -> Risk:
    keys = [word for word in words if re.match(r"[\w-]+\.[^/]*$", word) and not word.startswith("-")]
    harmless = bool(keys) and _HARMLESS_SETTING.fullmatch(keys[0]) is not None
    if not harmless or has_long(words, "--edit --remove-section --rename-section") or has_short(words, "e"):
        return "high", "changes settings by which git may run programs"
    return "medium", "changes the settings of git"

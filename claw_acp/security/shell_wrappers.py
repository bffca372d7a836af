"""Programs that run other programs, and the commands in their arguments."""

import re
from collections.abc import Callable, Mapping

from claw_acp.core.value import Value, replace
from claw_acp.security.shell_command import SimpleCommand

Words = tuple[str | None, ...]


class Opened(Value):
    """The commands and shell texts that a wrapper starts.

    Attributes:
        kept: Whether the wrapper is an action of its own that must be judged too.
        commands: Commands given as words.
        codes: Shell texts.
        doubts: Reasons that these may not be all.
        elevated: Whether the texts run as another user.
    """

    kept: bool = False
    commands: tuple[SimpleCommand, ...] = ()
    codes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    elevated: bool = False


class _Prefix(Value):
    """A wrapper before a command: its options, those with a value, and the number of words before the command."""

    flags: str = ""
    valued: str = ""
    positional: int = 0
    elevated: bool = False


SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
FOREIGN_SHELLS = frozenset({"fish", "csh", "tcsh", "pwsh", "powershell", "cmd", "cmd.exe", "nu", "elvish", "xonsh"})
_SHELL_FLAGS = "-l -i -e -u -x -v -n -f --login --noprofile --norc --posix"
_SHELL_VALUED = "-o +o -O +O"
_PREFIXES: Mapping[str, _Prefix] = {
    "command": _Prefix(flags="-p"),
    "builtin": _Prefix(),
    "exec": _Prefix(flags="-c -l", valued="-a"),
    "nohup": _Prefix(),
    "time": _Prefix(flags="-p"),
    "timeout": _Prefix(flags="--preserve-status --foreground -v", valued="-s --signal -k --kill-after", positional=1),
    "nice": _Prefix(valued="-n --adjustment"),
    "ionice": _Prefix(flags="-t", valued="-c -n"),
    "stdbuf": _Prefix(valued="-i -o -e"),
    "setsid": _Prefix(flags="-w -f -c --wait --fork"),
    "chronic": _Prefix(),
    "caffeinate": _Prefix(flags="-d -i -m -s -u"),
    "busybox": _Prefix(),
    "toybox": _Prefix(),
    "sudo": _Prefix(
        flags="-E -H -n -k -S -b -A -i -s --preserve-env --non-interactive",
        valued="-u -g -h -p -C -D -R -T -U --user --group",
        elevated=True,
    ),
    "doas": _Prefix(flags="-n", valued="-u -C", elevated=True),
    "pkexec": _Prefix(valued="--user", elevated=True),
}
_XARGS = _Prefix(
    flags="-0 -r -t -x --null --no-run-if-empty --verbose",
    valued="-n -P -L -d -s -I -E -a --max-args --max-procs --delimiter --replace",
)
_GIT_VALUED = frozenset({"-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix"})
_GIT_HARMLESS_KEY = re.compile(
    r"(?i)(color|advice|column|user|log|diff\.(noprefix|renames|context)|core\.quotepath)\b[^!]*"
)
_SYSTEM_DIRECTORIES = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.DOTALL)


def unwrap(command: SimpleCommand) -> Opened | None:
    """The commands that `command` starts besides itself; None if it starts none."""
    opener = _OPENERS.get(command.program) or (_open_prefix if command.program in _PREFIXES else None)
    opened = opener(command) if opener else None
    if opened and not is_system_program(command.argv[0]):
        return replace(opened, kept=True)  # some other program of that name: what it runs is its own business
    return opened


def is_system_program(name: str | None) -> bool:
    """Return whether a program is called by its bare name or from a system directory."""
    return name is not None and ("/" not in name or name.rsplit("/", 1)[0] in _SYSTEM_DIRECTORIES)


def _doubtful(reason: str) -> Opened:
    return Opened(kept=True, doubts=(reason,))


def _skip_options(argv: Words, spec: _Prefix) -> int | None:
    """The position of the first word that is not an option; None when an option is unknown."""
    flags, valued = spec.flags.split(), spec.valued.split()
    position = 1
    while position < len(argv):
        word = argv[position]
        if word is None:
            return None
        if word == "--":
            return position + 1
        if not word.startswith(("-", "+")) or word == "-":
            return position
        if word in valued:
            position += 2
        elif word in flags or _carries_value(word, valued) or _is_cluster(word, flags):
            position += 1
        else:
            return None
    return position


def _carries_value(word: str, valued: list[str]) -> bool:
    if word.startswith("--"):
        return word.split("=", 1)[0] in valued
    return word[:2] in valued or ("-n" in valued and re.fullmatch(r"-\d+", word) is not None)


def _is_cluster(word: str, flags: list[str]) -> bool:
    return not word.startswith("--") and all(f"-{letter}" in flags for letter in word[1:])


def _tail(command: SimpleCommand, start: int, *, elevated: bool = False) -> SimpleCommand:
    """The command whose words begin at `start`; `NAME=value` words before it become its environment."""
    while start < len(command.argv) and _ASSIGNMENT.match(command.argv[start] or ""):
        command = replace(command, env_prefix=(*command.env_prefix, command.argv[start]))
        start += 1
    return replace(
        command,
        argv=command.argv[start:],
        patterns=frozenset(index - start for index in command.patterns if index >= start),
        elevated=command.elevated or elevated,
    )


def _open_prefix(command: SimpleCommand) -> Opened | None:
    spec = _PREFIXES[command.program]
    if command.program == "command" and len(command.argv) > 1 and command.argv[1] in {"-v", "-V"}:
        return None
    start = _skip_options(command.argv, spec)
    if start is None:
        return _doubtful(f"the options of {command.program} are not known")
    if start + spec.positional >= len(command.argv):
        return Opened(kept=True)
    inner = _tail(command, start + spec.positional, elevated=spec.elevated)
    return Opened(kept=spec.elevated, commands=(inner,))


def _open_env(command: SimpleCommand) -> Opened:
    spec = _Prefix(flags="-i --ignore-environment -0 -", valued="-u --unset")
    start = _skip_options(command.argv, spec)
    if start is None:
        return _doubtful("the options of env are not known")
    inner = _tail(command, start)
    return Opened(commands=(inner,)) if inner.argv else Opened(kept=True)


def _open_xargs(command: SimpleCommand) -> Opened:
    start = _skip_options(command.argv, _XARGS)
    if start is None:
        return _doubtful("the options of xargs are not known")
    options = command.argv[1:start]
    if any(word is not None and word.startswith(("-a", "--replace")) for word in options):
        return _doubtful("the options of xargs are not known")
    inner = _tail(command, start)
    words = inner.argv or ("echo",)
    # a replaced placeholder may appear anywhere inside a word, so every word that holds it becomes unknown
    places = [word[2:] or options[index + 1] for index, word in enumerate(options) if word and word[:2] == "-I"]
    argv = tuple(None if word is None or any(p and p in word for p in places) else word for word in words)
    return Opened(commands=(replace(inner, argv=(*argv, None), piped=False),))


def _open_shell(command: SimpleCommand) -> Opened | None:
    argv = command.argv
    spec = _Prefix(flags=_SHELL_FLAGS, valued=_SHELL_VALUED)
    runs_text = False
    cleaned: list[str | None] = [argv[0]]
    for index, word in enumerate(argv[1:], start=1):
        if word is None or not word.startswith(("-", "+")) or word in {"-", "--"}:
            cleaned += argv[index:]
            break
        if not word.startswith("--") and "c" in word[1:]:
            runs_text, word = True, word.replace("c", "")  # noqa: PLW2901 - the rest of the cluster: `-lc` is `-l`
        if word not in {"", "-"}:
            cleaned.append(word)
    start = _skip_options(tuple(cleaned), spec)
    rest = () if start is None else tuple(cleaned[start:])
    if not rest or rest[0] is None or rest[0] == "-":
        return _doubtful(f"{command.program} runs what it is given as input")
    if not runs_text:
        return _doubtful(f"{command.program} runs a device as a script") if rest[0].startswith("/dev/") else None
    return Opened(kept=any(r.writes for r in command.redirects), codes=(rest[0],))


def _open_find(command: SimpleCommand) -> Opened | None:
    inner: list[SimpleCommand] = []
    argv = command.argv
    for start, word in enumerate(argv):
        if word not in {"-exec", "-execdir", "-ok", "-okdir"}:
            continue
        end = next((i for i in range(start + 1, len(argv)) if argv[i] in {";", "+"}), len(argv))
        words = tuple(None if word is None or "{}" in word else word for word in argv[start + 1 : end])
        inner.append(SimpleCommand(argv=words or (None,), elevated=command.elevated))
    return Opened(kept=True, commands=tuple(inner)) if inner else None


def _open_fd(command: SimpleCommand) -> Opened | None:
    for start, word in enumerate(command.argv):
        if word is not None and (word.startswith("--exec") or re.fullmatch(r"-[a-zA-Z]*[xX].*", word)):
            words = command.argv[start + 1 :]
            if word not in {"-x", "-X", "--exec", "--exec-batch"} or not words:
                return _doubtful("the options of fd are not known")
            unknown = tuple(None if text is None or "{" in text else text for text in words)
            return Opened(kept=True, commands=(SimpleCommand(argv=(*unknown, None)),))
    return None


def git_arguments(argv: Words) -> Words:
    """`git` and its words without the options that come before the subcommand."""
    position = 1
    while position < len(argv):
        word = argv[position]
        if word is None or not word.startswith("-"):
            break
        position += 2 if word in _GIT_VALUED or word in {"-c", "--config-env"} else 1
    return ("git", *argv[position:])


def _open_git(command: SimpleCommand) -> Opened | None:
    argv = command.argv
    for index, word in enumerate(argv[: len(argv) - len(git_arguments(argv)) + 1]):
        setting = argv[index + 1] if word == "-c" and index + 1 < len(argv) else None
        if word == "-c" and not (setting and _GIT_HARMLESS_KEY.fullmatch(setting)):
            return _doubtful("git -c can make git run other programs")
        if word and word.startswith(("--exec-path=", "--config-env")):
            return _doubtful("git is told to run other programs")
        if word and word.startswith("-c") and word != "-c":
            return _doubtful("git -c can make git run other programs")
    words = git_arguments(argv)[1:]
    known = [word or "" for word in words]
    if words and words[0] is None:
        return _doubtful("the git command is known only when it runs")
    runs_others = (
        (known[:1] == ["submodule"] and "foreach" in known)
        or known[:2] == ["bisect", "run"]
        or known[:1] == ["filter-branch"]
        or (known[:1] == ["rebase"] and any(w.startswith(("-x", "--exec")) for w in known))
    )
    return _doubtful(f"git {known[0]} runs other commands") if runs_others else None


def _open_trap(command: SimpleCommand) -> Opened:
    words = [word for word in command.argv[1:] if word != "--"]
    if not words or words[0] in {"-", "", "-l", "-p"}:
        return Opened(kept=True)
    return Opened(kept=True, codes=(words[0],)) if words[0] is not None else _doubtful("trap runs an unknown text")


def _open_su(command: SimpleCommand) -> Opened:
    argv = command.argv
    for index, word in enumerate(argv[:-1]):
        code = argv[index + 1]
        if word in {"-c", "--command"} and code is not None:
            return Opened(kept=True, codes=(code,), elevated=True)
    return _doubtful(f"{command.program} opens a shell as another user")


def _never(reason: str) -> Callable[[SimpleCommand], Opened]:
    return lambda _: _doubtful(reason)


_OPENERS: Mapping[str, Callable[[SimpleCommand], Opened | None]] = {
    "env": _open_env,
    "xargs": _open_xargs,
    "find": _open_find,
    "gfind": _open_find,
    "fd": _open_fd,
    "fdfind": _open_fd,
    "git": _open_git,
    "trap": _open_trap,
    "su": _open_su,
    "runuser": _open_su,
    "eval": _never("eval runs a text that is put together when it runs"),
    "coproc": _never("coproc runs a command in the background under a name"),
    "parallel": _never("parallel puts its commands together when it runs"),
    "watch": _never("watch runs a text again and again"),
    "script": _never("script opens a shell"),
    "chroot": _never("chroot runs commands in another system"),
    "unshare": _never("unshare runs commands in another namespace"),
    "nsenter": _never("nsenter runs commands in another namespace"),
    "strace": _never("strace runs another program"),
    "flock": _never("flock runs another program"),
    "alias": _never("alias changes what later commands mean"),
    "enable": _never("enable changes what later commands mean"),
    "hash": _never("hash changes what later commands mean"),
    **dict.fromkeys(SHELLS, _open_shell),
    **dict.fromkeys(FOREIGN_SHELLS, _never("it runs a shell whose language is not understood")),
}

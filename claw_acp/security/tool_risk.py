"""Small shell tools whose words can make them run, write, send or show more than their names suggest."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from claw_acp.security.risk import UNKNOWN, Risk, Words, has_long, has_short, unknown
from claw_acp.security.shell_command import names

_RUNS_OTHERS: Final[Risk] = ("high", "runs other programs that its words name")
_UNKNOWN_FILES: Final[Risk] = ("high", "changes files whose names are known only when it runs")
_SED_RISKY = re.compile(r"(?:^|[;{}\n!$\d\s,/|#@])[gpIiMm\d]*[ewW](?:$|[\s;}/.])")
_AWK_RISKY = re.compile(r"system|getline|\||print[^;}]*>|@")
_HARMLESS_MODE = re.compile(r"[ugoa]*\+[rwxX]+|0?[67][0-7]{2}")
_CODE_WORD = re.compile(r"\+.+|-c.*|--cmd.*|-e?s.*|--eval.*|-l.*|--load.*|-[fS].*|--batch|--script.*")
_LOOPBACK = names("127.0.0.1 localhost ::1")


def risky_sed(words: Words) -> bool:
    """Return whether a sed script may run something or write another file."""
    return any(_SED_RISKY.search(word) for word in words if not word.startswith("-") or word.startswith("-e"))


def risky_awk(words: Words) -> bool:
    """Return whether an awk program may run something or write a file."""
    return (
        any(_AWK_RISKY.search(word) for word in words) or has_short(words, "fiEl") or has_long(words, "--file --load")
    )


def _sed(words: Words) -> Risk:
    if risky_sed(words):
        return "high", "may write files or run commands from its script"
    return "medium", "changes files in place"


def _awk(words: Words) -> Risk:
    return ("high", "may write files or run commands") if risky_awk(words) else ("medium", "works on text")


def _copy(words: Words) -> Risk | None:
    if words and UNKNOWN in words[-1]:
        return _UNKNOWN_FILES
    return ("high", "overwrites files with nothing or anything") if any(w.startswith("/dev/") for w in words) else None


def _pack(words: Words) -> Risk | None:
    if unknown(words):
        return _UNKNOWN_FILES
    replaces = has_short(words, "r") or has_long(words, "--recursive")
    return ("high", "replaces every file of whole directories") if replaces else None


def _environment(words: Words) -> Risk:
    named = [word for word in words if not word.startswith("-") and "=" not in word]
    return ("medium", "shows a variable") if named else ("high", "shows all environment variables")


def _variables(words: Words) -> Risk:
    if not words or words[0] == "-p":
        return "high", "shows all environment variables"
    return "medium", "sets variables"


def _processes(words: Words) -> Risk | None:
    shows = any(re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*", w) or "env" in w for w in words) or has_short(words, "E")
    return ("high", "shows the environment of programs") if shows else ("medium", "lists programs")


def _jq(words: Words) -> Risk | None:
    shows = any(re.search(r"\benv\b|\$ENV", word) for word in words)
    return ("high", "shows all environment variables") if shows else ("medium", "works on text")


def _name_lookup(words: Words) -> Risk:
    if unknown(words):
        return "high", "sends something over the network that is known only when it runs"
    return "medium", "asks the network about a name"


def _openssl(words: Words) -> Risk:
    if set(words[:1]) & names("s_client s_server s_time ocsp cmp"):
        return "high", "talks to another machine"
    return "medium", "works on keys and certificates"


def _gpg(words: Words) -> Risk:
    if has_long(words, "--export-secret-keys --export-secret-subkeys --decrypt --delete-keys --send-keys") or has_short(
        words, "d"
    ):
        return "high", "shows, deletes or sends what is secret"
    return "medium", "works on keys and signatures"


def _multiplexer(words: Words) -> Risk:
    looks = bool(words) and words[0] in names("ls list-sessions list-windows list-panes has-session has -V -ls -v")
    return ("medium", "lists terminals") if looks else ("high", "types into, shows or starts other terminals")


def _opened(words: Words) -> Risk:
    if any("://" in word or UNKNOWN in word for word in words):
        return "high", "opens an address in your browser"
    return "medium", "opens a file on your desktop"


def _editor(words: Words) -> Risk:
    if any(_CODE_WORD.fullmatch(word) for word in words):
        return "high", "runs commands that its words name"
    return "medium", "opens an editor"


def _serves(words: Words) -> Risk:
    bound = [value for last, word in zip(("", *words), words, strict=False) for value in (word, last) if value]
    if _LOOPBACK & {word.rpartition("=")[2] for word in bound}:
        return "medium", "serves files to this machine"
    return "high", "serves the directory to the network"


def _with_option(long: str, short: str, risk: Risk, otherwise: Risk) -> Callable[[Words], Risk]:
    return lambda words: risk if has_long(words, long) or has_short(words, short) else otherwise


def _set_date(words: Words) -> Risk:
    if has_short(words, "s") or has_long(words, "--set"):
        return "high", "sets the clock of this machine"
    return "medium", "shows the time"


def _network(words: Words) -> Risk:
    changes = names("set add del delete flush change replace append down up")
    return ("high", "changes the network") if changes & set(words) else ("medium", "shows the network")


TOOL_JUDGES: Final[Mapping[str, Callable[[Words], Risk | None]]] = {
    **dict.fromkeys(names("sed gsed"), _sed),
    **dict.fromkeys(names("awk gawk mawk nawk"), _awk),
    **dict.fromkeys(names("cp mv ln install"), _copy),
    **dict.fromkeys(names("gzip gunzip bzip2 bunzip2 xz unxz zstd lz4 pigz"), _pack),
    **dict.fromkeys(names("tee patch split"), lambda words: _UNKNOWN_FILES if unknown(words) else None),
    **dict.fromkeys(names("env printenv"), _environment),
    **dict.fromkeys(names("export set"), _variables),
    **dict.fromkeys(
        names("dig nslookup host ping ping6 traceroute tracepath whois drill resolvectl nmap"), _name_lookup
    ),
    **dict.fromkeys(names("tmux screen zellij byobu"), _multiplexer),
    **dict.fromkeys(names("xdg-open open start gio"), _opened),
    **dict.fromkeys(names("vi vim nvim ex view emacs emacsclient ed nano kak micro"), _editor),
    **dict.fromkeys(names("ip ifconfig route"), _network),
    "ps": _processes,
    "jq": _jq,
    "openssl": _openssl,
    "gpg": _gpg,
    "gpg2": _gpg,
    "http.server": _serves,
    "date": _set_date,
    "sort": _with_option("--compress-program", "", _RUNS_OTHERS, ("medium", "writes or sorts files")),
    "rg": _with_option("--pre --hostname-bin --search-zip", "z", _RUNS_OTHERS, ("medium", "searches files")),
    "fuser": _with_option("--kill", "k", ("high", "stops programs of this machine"), ("medium", "lists programs")),
}


def harmless_mode(words: Words) -> bool:
    """Return whether a mode only adds permissions."""
    modes = [word for word in words if not word.startswith("-") and UNKNOWN not in word]
    return bool(modes) and _HARMLESS_MODE.fullmatch(modes[0]) is not None

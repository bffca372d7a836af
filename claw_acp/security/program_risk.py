"""The risk of widely used programs, and the arguments with which they do harm."""

import os
import re
from collections.abc import Callable, Mapping
from functools import partial

from claw_acp.security.forbidden import harmless_device
from claw_acp.security.git_risk import git_risk
from claw_acp.security.network_risk import aria2c_risk, curl_risk, httpie_risk, wget_risk, yt_dlp_risk
from claw_acp.security.own_program import own_risk, own_words
from claw_acp.security.program_tables import FIXED, TASK_RUNNERS, table
from claw_acp.security.risk import UNKNOWN, Level, Risk, Words, has_long, has_short, unknown
from claw_acp.security.risky_words import by_words, task_risk
from claw_acp.security.service_risk import DATABASES, SERVICES, database_risk, service_risk
from claw_acp.security.shell_command import names
from claw_acp.security.started_program import started_by
from claw_acp.security.tool_risk import TOOL_JUDGES, harmless_mode

__all__ = ["Level", "Risk", "program_risk", "table"]


def program_risk(program: str, words: Words) -> Risk:
    """The risk of running `program` with `words`; a word known only at run time is `UNKNOWN`."""
    own = own_words(program, words)
    if own is not None:
        return own_risk(own)
    name = program.casefold()
    for known in (name, re.sub(r"[\d.]+$", "", name), name.partition(".")[0]):
        judge = JUDGES.get(known)
        found = (judge(words) if judge else None) or FIXED.get(known)
        if found:
            started = started_by(known, words)
            inner = program_risk(started[0], started[1:]) if started else found
            return inner if inner[0] == "high" else found
    for value in (word.rpartition("=")[2] for word in words):
        if value.startswith("/dev/") and not harmless_device(value):
            return "high", "uses a device of this machine"
    return by_words((name, *words), otherwise=("medium", "runs a program that can do anything you can"))


def _rm(words: Words) -> Risk:
    if has_short(words, "rR") or has_long(words, "--recursive --no-preserve-root"):
        return "high", "deletes files recursively"
    if unknown(words):
        return "high", "deletes files whose names are known only when it runs"
    if any(re.search(r"[*?\[]", word) or word in {"/", "~", ".", ".."} for word in words):
        return "high", "deletes many files at once"
    return "medium", "deletes files"


def _chmod(words: Words) -> Risk | None:
    if has_short(words, "R") or has_long(words, "--recursive"):
        return "high", "changes permissions of whole directories"
    if unknown(words) and not harmless_mode(words):
        return "high", "changes permissions of files whose names are known only when it runs"
    lends = any(re.search(r"[+=].*s|^[4267]\d{3}$", word) for word in words)
    return ("high", "lets a program run as another user") if lends else None


def _dd(words: Words) -> Risk | None:
    target = next((word[3:] for word in words if word.startswith("of=")), "")
    device = target.startswith("/dev/") and not harmless_device(target)
    return ("high", "writes to a disk or device") if device else None


def _find(words: Words) -> Risk | None:
    if "-delete" in words:
        return "high", "deletes every file it finds"
    runs = any(word.startswith(("-exec", "-ok")) for word in words)
    return ("medium", "runs a command for every file it finds") if runs else None


_DANGEROUS_CODE = re.compile(
    r"claw_acp|environ|truncate|rename|chmod|ctypes|importlib|getattr|__class__|globals|base64|codecs|chr\(|charcode|_put_|fopen|putenv"
    r"|Touch|process\.|child_|rmtree|unlink|\bremove\b|rmdir|system|subprocess|popen|exec|spawn|eval|socket|urllib|requests|http|fetch\(|net\b|open\(|write"
    r"|FileUtils|`|shutil|__import__|\brm\b|\0",
    re.IGNORECASE,
)
_CODE_OPTION = re.compile(r"-[a-zA-Z]*[cepErR]|--eval|--print|--execute|eval|-$")


_VALUED = names("-W -X -I --import --require --loader")


def _interpreter(words: Words) -> Risk:
    if words[:1] == ("-S",) and words[1:2] and ":" in words[1]:
        return "high", "serves the directory to the network"
    for index, word in enumerate(words):
        if index and words[index - 1] in _VALUED:
            continue
        if (not word.startswith("-") and word != "eval") or word.startswith("-m"):
            break  # a module is judged by its name
        if _CODE_OPTION.match(word):
            code = " ".join((word, *words[index + 1 :]))
            if _DANGEROUS_CODE.search(code) or word == "-":
                return "high", "runs code from its arguments that can delete, write or connect"
            return "medium", "runs code from its arguments"
    if not words or UNKNOWN in words[:1]:
        return "high", "runs code that it is given as input"
    if any(word.startswith(("http://", "https://")) for word in words[:3]):
        return "high", "runs code from the network"
    if any(word.startswith("-m") for word in words[:3]):
        return "medium", "runs a module"
    plain = [word for word in words if word not in {"run", "-f"}]
    return by_words(tuple(word.replace(UNKNOWN, "") for word in plain), otherwise=("medium", "runs a script"))


_PUBLISHES = names("publish unpublish deprecate yank login logout adduser owner token upload push access dist-tag")
_INSTALLS = names("install i add ci update upgrade remove uninstall dlx exec get download sync")
_CHECKS = names("test t build check lint vet fmt clippy")


def _package_manager(words: Words) -> Risk | None:
    if any(word.startswith(("http://", "https://")) for word in words) and set(words[:1]) & names("run serve x"):
        return "high", "runs code from the network"
    plain = [word for word in words if not word.startswith("-")]
    verb = plain[0] if plain else ""
    rest = words[words.index(verb) + 1 :] if verb else ()
    runs = verb in {"run", "run-script", "exec", "x", "test", "dlx"}  # the words that follow are its own
    if _PUBLISHES & set(plain[:1] if runs else plain[:3]):  # options with a value may come before the verb
        return "high", "publishes to, or signs in at, a package registry"
    if verb == "config" and rest[:1] == ("set",):
        return "high", "changes the settings of the package manager"
    if verb in _INSTALLS:
        return "medium", "installs or removes packages, which run their own scripts"
    if verb in {"run", "run-script"} and rest[:1]:
        return task_risk(rest[:1], otherwise=("medium", "runs the project's own commands"))
    if verb in _CHECKS:
        return "low", "builds or checks the project"
    return task_risk(tuple(plain[:2]), otherwise=("medium", "runs the project's own commands"))


def _system_packages(words: Words) -> Risk:
    removes = {"remove", "purge"} & set(words)
    return ("high", "removes software of this machine") if removes else ("medium", "installs software")


def _containers(words: Words) -> Risk:
    risky = re.compile(
        r"--privileged|-[a-z]*v.*|--volume.*|--mount.*|--device.*|--cap-add.*|--security-opt.*|(--pid|--net\w*|--ipc)=host"
        r"|host|-H.*|--host.*|cp|kill|prune|rm|rmi|delete|apply|destroy|down|push|login|exec|uninstall"
    )
    if any(risky.fullmatch(word) for word in words):
        return "high", "changes or reaches beyond containers and clusters"
    return "medium", "works with containers or clusters"


def _gh(words: Words) -> Risk:
    acts = names("create delete merge close edit api auth comment upload secret run release") & set(words)
    return ("high", "acts in your name on a hosting service") if acts else ("medium", "asks a hosting service")


def _kill(words: Words) -> Risk | None:
    if unknown(words) or {"1", str(os.getpid()), str(os.getppid())} & set(words):
        return "high", "stops a program that may be any"
    return ("high", "stops every program you run") if "-1" in words[1:] or "0" in words else None


_TAR_RUNS = """--to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command --info-script
    --new-volume-script"""


def _tar(words: Words) -> Risk | None:
    bundle = "".join(words[:1])  # `tar xIf prog a.tar`: letters without a stroke
    if has_long(words, _TAR_RUNS) or has_short(words, "IF") or (set(bundle) & set("IF") and not bundle.startswith("-")):
        return "high", "runs other programs while it packs"
    if has_long(words, "--remove-files --recursive-unlink --absolute-names --unlink-first --overwrite-dir"):
        return "high", "deletes files or writes anywhere while it packs"
    return None


def _zip(words: Words) -> Risk | None:
    if has_long(words, "--unzip-command --move") or has_short(words, "Tm"):
        return "high", "runs another program or deletes what it packs"
    return None


_HARMLESS_OF_CMAKE = names("echo make_directory touch copy copy_if_different time tar")


def _task(words: Words) -> Risk:
    if words[:1] == ("-E",) and not set(words[1:2]) <= _HARMLESS_OF_CMAKE:
        return "high", "deletes files or runs other programs"
    return task_risk(words, otherwise=("medium", "runs the project's own commands"))


def _source(words: Words) -> Risk:
    """The risk of `. FILE`: a device or a pipe can contain anything."""
    if not words or UNKNOWN in words[0] or words[0].startswith(("/dev/", "/proc/", "-")):
        return "high", "runs code that it is given as input"
    return _script(words)


def _script(words: Words) -> Risk:
    known = tuple(word.replace(UNKNOWN, "") for word in words)
    return by_words(known, otherwise=("medium", "runs a script in the shell"))


Judge = Callable[[Words], Risk | None]
JUDGES: Mapping[str, Judge] = {
    **dict.fromkeys(names("rm unlink"), _rm),
    **dict.fromkeys(names("chmod chown chgrp"), _chmod),
    "dd": _dd,
    **dict.fromkeys(names("find gfind"), _find),
    "git": git_risk,
    "curl": curl_risk,
    "wget": wget_risk,
    "aria2c": aria2c_risk,
    "yt-dlp": yt_dlp_risk,
    **dict.fromkeys(names("http https xh xhs"), httpie_risk),
    **dict.fromkeys(names("source ."), _source),
    **dict.fromkeys(names("sh bash dash zsh ksh ash"), _script),
    "kill": _kill,
    **dict.fromkeys(names("tar gtar bsdtar"), _tar),
    "zip": _zip,
    **dict.fromkeys(names("gh glab"), _gh),
    **dict.fromkeys(
        names("npm pnpm yarn npx cargo go pip pip3 uv poetry gem bundle composer twine bun deno"), _package_manager
    ),
    **dict.fromkeys(names("apt apt-get yum dnf pacman brew snap apk zypper port choco winget"), _system_packages),
    **dict.fromkeys(names("docker docker-compose podman nerdctl"), _containers),
    **{name: partial(database_risk, name) for name in DATABASES},
    **{name: partial(service_risk, name) for name in SERVICES},
    **TOOL_JUDGES,
    **dict.fromkeys(TASK_RUNNERS, _task),
    **dict.fromkeys(names("python python2 python3 node nodejs perl ruby php lua rscript ts-node tsx"), _interpreter),
}

"""What the programs of this world do, and with which words they do harm."""

import re
from collections.abc import Callable, Iterable, Mapping

from claw_acp.security.forbidden import harmless_device
from claw_acp.security.git_risk import git_risk
from claw_acp.security.network_risk import aria2c_risk, curl_risk, httpie_risk, wget_risk, yt_dlp_risk
from claw_acp.security.option_words import has_long, has_short
from claw_acp.security.risk import UNKNOWN, Level, Risk, Words
from claw_acp.security.shell_command import names

__all__ = ["Level", "Risk", "program_risk"]


def program_risk(program: str, words: Words) -> Risk:
    """The risk of running `program` with `words`; a word that is known only at run time is given as `UNKNOWN`."""
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


def table(rows: Iterable[tuple[Level, str, str]]) -> Mapping[str, Risk]:
    """Rows of programs that share a risk, by program.

    Raises:
        ValueError: A program stands in two rows: the later one would hide what the first says.
    """
    found: dict[str, Risk] = {}
    for level, reason, programs in rows:
        for program in programs.split():
            if program in found:
                raise ValueError(f"{program} has two risks: {found[program]} and {(level, reason)}")
            found[program] = (level, reason)
    return found


FIXED: Mapping[str, Risk] = table(
    (
        ("high", "runs as another user", "sudo doas su pkexec runuser"),
        ("high", "destroys data on a disk", "mkfs fdisk parted wipefs shred mkswap diskutil sgdisk format"),
        ("high", "stops or restarts the machine", "shutdown reboot halt poweroff init"),
        ("high", "changes accounts", "useradd userdel usermod groupadd passwd chpasswd visudo adduser deluser dscl"),
        (
            "high",
            "changes how the machine works",
            """mount umount iptables nft ufw systemctl service launchctl sysctl modprobe insmod""",
        ),
        ("high", "plans commands for later", "crontab at batch"),
        ("high", "talks to another machine", "ssh scp sftp rsync nc ncat netcat telnet ftp tftp socat rclone"),
        ("high", "stops programs of this machine", "killall pkill"),
        ("high", "sends data to the cloud", "aws gcloud az gsutil s3cmd doctl"),
        ("medium", "stops a program", "kill"),
        ("medium", "shows all environment variables", "env printenv export set declare"),
        ("medium", "runs a script in the shell", "sh bash dash zsh ksh ash"),
        ("medium", "moves or overwrites files", "mv cp ln install tee truncate patch unzip tar split"),
        ("medium", "writes to a file or disk", "dd"),
        ("medium", "removes directories", "rmdir"),
        ("medium", "changes permissions", "chmod chown chgrp setfacl"),
        ("low", "creates files", "touch mkdir mktemp"),
        (
            "low",
            "builds or checks the project",
            """pytest ruff mypy pyright tsc eslint prettier black tox jest vitest shellcheck ctest""",
        ),
        (
            "medium",
            "runs the project's own commands",
            """make cmake ninja just task gradle mvn npm pnpm yarn npx cargo go dotnet rake bundle""",
        ),
        (
            "high",
            "runs another program with other settings",
            """chrt taskset prlimit numactl cpulimit unshare nsenter chroot setpriv firejail unbuffer rlwrap ltrace
            strace gdb lldb valgrind perf entr expect start-stop-daemon systemd-run dbus-run-session xvfb-run
            daemonize""",
        ),
    )
)


# ------------------------------------------------------------------ programs whose words decide


def _rm(words: Words) -> Risk:
    if has_short(words, "rR") or has_long(words, "--recursive --no-preserve-root"):
        return "high", "deletes files recursively"
    if any(UNKNOWN in word for word in words):
        return "high", "deletes files whose names are known only when it runs"
    if any(re.search(r"[*?\[]", word) or word in {"/", "~", ".", ".."} for word in words):
        return "high", "deletes many files at once"
    return "medium", "deletes files"


def _chmod(words: Words) -> Risk | None:
    if has_short(words, "R") or has_long(words, "--recursive"):
        return "high", "changes permissions of whole directories"
    return (
        ("high", "lets a program run as another user")
        if any(re.search(r"[+=].*s|^[4267]\d{3}$", w) for w in words)
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
    if not words or UNKNOWN in words[:1]:
        return "high", "runs code that it is given as input"
    return "medium", "runs a script"


_PUBLISHES = names("publish unpublish deprecate yank login logout adduser owner token upload")


def _package_manager(words: Words) -> Risk | None:
    plain = [word for word in words if not word.startswith("-")]
    verb = plain[0] if plain else ""
    rest = words[words.index(verb) + 1 :] if verb else ()
    runs = verb in {"run", "run-script", "exec", "x", "test", "dlx"}  # the words that follow are its own
    if _PUBLISHES & set(plain[:1] if runs else plain[:3]):  # options with a value may come before the verb
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
        r"--privileged|-[a-z]*v.*|--volume.*|--mount.*|--device.*|--cap-add.*|--security-opt.*|(--pid|--net\w*|--ipc)=host"
        r"|host|-H.*|--host.*|cp|kill|prune|rm|rmi|delete|apply|destroy|down|push|login|exec|uninstall"
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
    if has_short(words, "i") or has_long(words, "--in-place"):
        return "medium", "changes files in place"
    return "medium", "may write files or run commands from its script"


_TAR_RUNS = """--to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command --info-script
    --new-volume-script"""


def _tar(words: Words) -> Risk | None:
    bundle = (
        words[0] if words and not words[0].startswith("-") else ""
    )  # `tar xIf prog a.tar`: letters without a stroke
    if has_long(words, _TAR_RUNS) or has_short(words, "IF") or set(bundle) & set("IF"):
        return "high", "runs other programs while it packs"
    if has_long(words, "--remove-files --recursive-unlink --absolute-names --unlink-first --overwrite-dir"):
        return "high", "deletes files or writes anywhere while it packs"
    return None


def _zip(words: Words) -> Risk | None:
    if has_long(words, "--unzip-command --move") or has_short(words, "Tm"):
        return "high", "runs another program or deletes what it packs"
    return None


def _source(words: Words) -> Risk:
    """`. FILE`: a device or a pipe is whatever somebody writes into it."""
    if not words or UNKNOWN in words[0] or words[0].startswith(("/dev/", "/proc/", "-")):
        return "high", "runs code that it is given as input"
    return "medium", "runs a script in the shell"


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
    "git": git_risk,
    "curl": curl_risk,
    "wget": wget_risk,
    "aria2c": aria2c_risk,
    "yt-dlp": yt_dlp_risk,
    **dict.fromkeys(names("http https xh xhs"), httpie_risk),
    **dict.fromkeys(names("source ."), _source),
    "kill": _kill,
    "sed": _sed,
    **dict.fromkeys(names("tar gtar bsdtar"), _tar),
    "zip": _zip,
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

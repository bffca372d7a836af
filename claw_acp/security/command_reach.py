"""The reach that a command needs: its project, the network, or the whole machine of its person."""

from collections.abc import Sequence
from typing import Final

from claw_acp.contracts.tool import Reach
from claw_acp.security.command_risk import Assessment
from claw_acp.security.service_risk import DATABASES, SERVICES
from claw_acp.security.shell_command import SimpleCommand, names
from claw_acp.security.shell_wrappers import git_arguments

FETCH: Final = names("curl wget http https httpie xh aria2c yt-dlp dig nslookup host ping ping6 whois traceroute")
_PACKAGES: Final = names(
    """pip pip3 pipx uv uvx poetry pdm hatch conda mamba npm npx pnpm pnpx yarn bun bunx deno corepack cargo go gem
    bundle bundler composer mix cabal stack swift dotnet nuget mvn gradle"""
)
_FETCHES_PACKAGES: Final = names(
    """install i ci add update upgrade up sync lock download get fetch dlx create view info search outdated audit
    restore clone pull tree-fetch mod tidy tool vendor generate-lockfile exec x"""
)
_ALWAYS_FETCH: Final = names("npx pnpx uvx bunx")
_PUBLISHES: Final = names(
    "publish unpublish deprecate yank login logout adduser owner token whoami access dist-tag push upload"
)
_OFFLINE: Final = names("--offline --no-index --frozen-offline --prefer-offline-only")
_BUILDS: Final = names("build test run check vet fmt clippy list env version bench doc clean vendor")
_MACHINE: Final = names(
    """docker podman nerdctl buildah docker-compose podman-compose systemctl service journalctl loginctl launchctl
    kill pkill killall fuser renice mount umount crontab at batch apt apt-get aptitude dpkg yum dnf rpm pacman zypper
    apk brew port snap flatpak nix nix-env xdg-open open start gio tmux screen zellij byobu ssh scp sftp rsync
    ssh-add ssh-keygen gpg gpg2 gh glab hub twine strace ltrace gdb lldb perf hg svn chsh passwd useradd usermod
    sudo doas pkexec su code cursor zed subl launchd sysctl modprobe iptables nft ufw ip ifconfig route"""
)
_GIT_REMOTE: Final = names("push pull fetch remote config submodule lfs send-email credential maintenance")
_GIT_ADDRESSED: Final = names("clone ls-remote archive")
_UPSTREAM: Final = ("-u", "--set-upstream", "--set-upstream-to", "--unset-upstream", "--edit-description")


def needed_reach(command: SimpleCommand, *, risk: Assessment) -> Reach:
    """The reach without which a command would certainly fail, as far as its words tell."""
    if risk.level == "read_only":
        return "reading"
    if command.elevated or risk.outside:
        return "machine"
    words = tuple(word or "" for word in command.argv)
    if command.program.startswith("python") and words[1:2] == ("-m",):
        words = words[2:]
    program = words[0].rsplit("/", 1)[-1].casefold() if words else ""
    if program == "git":
        return _git(git_arguments(words))
    if program in _MACHINE or program in DATABASES or program in SERVICES:
        return "machine"
    if program in _PACKAGES:
        return _package_manager(program, words[1:])
    return "network" if program in FETCH else "project"


def _git(words: tuple[str | None, ...]) -> Reach:
    """The reach of git: its remotes want the person's keys, and its settings are write-protected."""
    verb, *rest = [word or "" for word in words[1:]] or [""]
    if verb in _GIT_REMOTE:
        return "machine"
    if verb == "branch" and any(word.startswith(_UPSTREAM) for word in rest):
        return "machine"
    if verb in _GIT_ADDRESSED and any("://" in word and not word.startswith("file:") for word in rest):
        return "network" if all("ssh:" not in word for word in rest) else "machine"
    if verb in _GIT_ADDRESSED and any("@" in word and ":" in word for word in rest):
        return "machine"
    return "project"


def _package_manager(program: str, words: Sequence[str]) -> Reach:
    plain = [word for word in words if not word.startswith("-")]
    verbs = plain[1:2] if program == "uv" and plain[:1] == ["pip"] else plain[:1]
    if set(plain[:2]) & _PUBLISHES and not set(verbs) & _BUILDS:
        return "machine"
    if _OFFLINE & set(words):
        return "project"
    if program in _ALWAYS_FETCH or set(verbs) & _FETCHES_PACKAGES or (program == "yarn" and not plain):
        return "network"
    return "project"

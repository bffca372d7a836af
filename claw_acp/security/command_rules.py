"""The permission rules that apply to the commands of one line, and the rules an answer about them would store.

A refusal covers every command that begins with its words, in any spelling. A permission covers exactly its command: the
words, the assignments before them, the directory, and no input.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from claw_acp.contracts.tool import FetchesUrl, Reach, ReadsPath, RunsCommand, WritesPath, goes_beyond, widest
from claw_acp.core.markdown import code_span
from claw_acp.security.assignments import harmless_assignment
from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.command_risk import Assessment
from claw_acp.security.host_pattern import HostPattern
from claw_acp.security.path_policy import matching_rules
from claw_acp.security.permission_store import SOURCE
from claw_acp.security.rules import REACH_OF, Match, Rule, host_of
from claw_acp.security.shell_command import ParsedLine, SimpleCommand, names
from claw_acp.security.shell_pattern import ShellPattern, quoted
from claw_acp.security.shell_wrappers import git_arguments
from claw_acp.security.verdicts import usable

LONGEST_REMEMBERED = 1_000  # characters of a rule: a person reads it before agreeing

_URL = re.compile(r"https?://[^\s'\"]+", re.IGNORECASE)
_LONGEST_SHOWN = 80  # characters of a command in a reason
_MOVES = names("cd pushd popd")
# The only move whose effect is certain: it is the first thing the line does, and nothing is done where it fails.
_MOVES_FIRST = re.compile(r"\s*cd\s+(?:'[^']*'|\"[^\"$`\\!]*\"|[\w@%+=:,./~-]+)\s*&&")
_COPIES_ITS_INPUT = names("tee sponge pv")  # what they are fed changes nothing that a rule is about
# No option of these runs a program, writes a file, or shows a file or a secret. Test runners, compilers, linters and
# package managers are not here: nearly all take the name of a program, of settings that are one, or of a file to write.
_ANY_ARGUMENTS = ("docker ps", "docker images", "podman ps", "podman images", "free", "lscpu", "lsblk", "locale")


class CommandRules:
    """The rules that may apply to the commands of one line."""

    def __init__(
        self,
        access: RunsCommand,
        *,
        line: ParsedLine,
        plain: bool,
        tool: str,
        rules: Sequence[Rule],
        context: PolicyContext,
    ) -> None:
        self._access = access
        self._plain = plain
        self._tool = tool
        self._limiting = tuple(rule for rule in rules if rule.verdict != "allow")
        self._allowing = tuple(rule for rule in rules if rule.verdict == "allow" and rule.concerns(tool, access))
        self._context = context
        self._directory = _directory(access, line)

    def limits(self, command: SimpleCommand, *, risk: Assessment, reach: Reach) -> Iterator[tuple[Rule, Match]]:
        """The deny and ask rules that match this command, in any of its spellings or by a file or host it names.

        Those about the network or the machine apply where it reaches so far.
        """
        for rule in self._limiting:
            narrow = rule.tool == "shell" or not goes_beyond(REACH_OF.get(rule.tool, "reading"), reach)
            if narrow and rule.concerns(self._tool, self._access) and self._happens_in(rule) is not False:
                answers = {rule.matches_words(words) for words in _spellings(command)}
                if answers & {"yes", "maybe"}:
                    yield rule, "yes" if "yes" in answers else "maybe"
        touches = (
            *(ReadsPath(path=path) for path in risk.reads),
            *(WritesPath(path=path) for path in risk.writes),
        )
        for touch in touches:
            for rule in matching_rules(touch, tool=self._tool, rules=self._limiting, context=self._context):
                yield rule, "yes"
        addresses = [FetchesUrl(url=url) for word in command.argv for url in _URL.findall(word or "")]
        for address, rule in product(addresses, self._limiting):
            if rule.concerns(self._tool, address) and rule.matches_host(host_of(address.url) or ""):
                by_any_method = not isinstance(rule.pattern, HostPattern) or not rule.pattern.method
                yield rule, "yes" if by_any_method else "maybe"

    def allowing(self, command: SimpleCommand, *, outside: bool, reach: Reach = "project") -> Rule | None:
        """The widest rule that covers this command, or None; a rule ending in `*` covers nothing outside the project.

        With `reach` it must permit that, whatever the command needs.
        """
        covering = (rule for rule in self._allowing if self._covers(rule, command))
        closed = (rule for rule in covering if not (outside and _is_open(rule)))
        usable = [rule for rule in closed if not goes_beyond(reach, permitted_reach(rule))]
        reaches: list[Reach] = [permitted_reach(rule) for rule in usable]
        return usable[reaches.index(found)] if (found := widest(reaches)) else None

    def remembered(self, command: SimpleCommand, *, tool: str = "shell") -> tuple[str, ...]:
        """The rules of `tool` that "always" would store for a command; none where no rule would cover it."""
        place = self._place()
        words = _words(command, open_from=None)
        if not self._plain or place is None or not command.argv or _is_fed(command) or not _targets_known(command):
            return ()
        known = [word for word in words if word is not None]
        text = f"{tool}({place}{' '.join(quoted(word) for word in known)})"
        return usable([text]) if len(known) == len(words) and len(text) <= LONGEST_REMEMBERED else ()

    # ------------------------------------------------------------------ covering

    def _covers(self, rule: Rule, command: SimpleCommand) -> bool:
        pattern = rule.pattern
        if not command.argv or not _targets_known(command):
            return False
        if not isinstance(pattern, ShellPattern):
            return pattern is None
        if not self._plain or self._happens_in(rule) is not True or (_is_fed(command) and not pattern.open_ended):
            return False
        return pattern.covers(_words(command, open_from=len(pattern.tokens) - 1 if pattern.open_ended else None))

    def _happens_in(self, rule: Rule) -> bool | None:
        """Return whether the line's commands run in the rule's directory; None when that is unknown."""
        pattern = rule.pattern
        if not isinstance(pattern, ShellPattern):
            return True
        if pattern.directory is None and (rule.verdict != "allow" or pattern.open_ended):
            return True
        if self._directory is None:
            return None
        if pattern.directory == "*":
            return self._context.inside(self._directory)
        return self._directory == (self._access.cwd / (pattern.directory or ".")).resolve()

    def _place(self) -> str | None:
        """The directory in the form of a rule: empty for the project's own; None when it has none."""
        if self._directory is None or not self._directory.is_relative_to(self._access.cwd):
            return None
        relative = self._directory.relative_to(self._access.cwd).as_posix()
        return "" if relative == "." else f"cd {quoted(relative)} && "


def permitted_reach(rule: Rule) -> Reach:
    """The reach that a rule permits whatever a command needs."""
    return REACH_OF.get(rule.tool, "project")


def agreed_here(rule: Rule) -> bool:
    """Return whether a person agreed to exactly this command in this project."""
    return rule.source == SOURCE and not _is_open(rule)


def _is_open(rule: Rule) -> bool:
    return isinstance(rule.pattern, ShellPattern) and rule.pattern.open_ended


def wider(rule: str) -> tuple[str, ...]:
    """The rule that covers the same command with any arguments, if no argument of it can do harm."""
    known = (start for start in _ANY_ARGUMENTS if rule.startswith((f"shell({start} ", f"shell({start})")))
    return tuple(f"shell({start} *)" for start in known)


def shown_command(command: SimpleCommand) -> str:
    """A command in the form that reasons use."""
    assignments = (part.replace("\0", "…") if part else "…" for part in command.env_prefix)
    text = " ".join((*assignments, *("…" if word is None else quoted(word) for word in command.argv)))
    text = re.sub(r"\s+", " ", text) or "a redirection"
    return code_span(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def _directory(access: RunsCommand, line: ParsedLine) -> Path | None:
    """The directory of all commands of a line; None when they differ, or are unknown."""
    moves = [command for command in line.commands if command.program in _MOVES]
    if not moves:
        return access.cwd
    first = line.commands[0]
    target = first.argv[1] if len(first.argv) == 2 else None
    if len(moves) > 1 or first is not moves[0] or first.env_prefix or not target or target.startswith(("-", "~")):
        return None
    directory = (access.cwd / target).resolve()
    return directory if _MOVES_FIRST.match(access.line) and directory.is_dir() else None


def _words(command: SimpleCommand, *, open_from: int | None) -> tuple[str | None, ...]:
    """The words a permission must cover: the assignments that can change what a program does, and the command's words.

    None is an unknown word. A wildcard is unknown too, except where anything may follow (`open_from`) and it cannot
    become an option.
    """
    prefix = tuple(
        None if assignment is None or "\0" in assignment else assignment
        for assignment in command.env_prefix
        if not harmless_assignment(assignment)
    )
    words = [*prefix, *command.argv]
    for index in command.patterns:
        position, word = index + len(prefix), command.argv[index] or "*"
        if open_from is None or position < open_from or word[0] in "*?[":
            words[position] = None
    return tuple(words)


def _is_fed(command: SimpleCommand) -> bool:
    """Return whether a program gets input that it may act on, besides its words."""
    inputs = [redirect for redirect in command.redirects if redirect.operator.startswith("<")]
    empty = bool(inputs) and inputs[-1].target == "/dev/null"
    return command.piped and not empty and command.program not in _COPIES_ITS_INPUT


def _targets_known(command: SimpleCommand) -> bool:
    return all(redirect.target is not None or redirect.operator.startswith("<<") for redirect in command.redirects)


def _spellings(command: SimpleCommand) -> Iterator[tuple[str | None, ...]]:
    """The spellings of this command for deny rules: as written, by the program's own name, git without its options."""
    if not command.argv:
        return
    argv = tuple(None if index in command.patterns else word for index, word in enumerate(command.argv))
    name = command.program.casefold()
    yield argv
    if name:
        yield (name, *argv[1:])
        yield (command.program, *argv[1:])
    if name == "git":
        yield git_arguments(argv)

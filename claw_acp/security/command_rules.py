"""The permission rules that one command of a line meets, and the rule an answer about it would store."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from claw_acp.contracts.tool import FetchesUrl, ReadsPath, RunsCommand, WritesPath
from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.command_risk import Assessment
from claw_acp.security.path_policy import matching_rules
from claw_acp.security.read_only_commands import harmless_assignment
from claw_acp.security.rules import Match, Rule, host_of
from claw_acp.security.shell_command import SimpleCommand
from claw_acp.security.shell_pattern import ShellPattern, quoted
from claw_acp.security.shell_wrappers import git_arguments
from claw_acp.security.verdicts import usable

_URL = re.compile(r"https?://[^\s'\"]+", re.IGNORECASE)
_LONGEST_SHOWN = 80  # characters of a command in a reason


class CommandRules:
    """The rules, as far as they can concern the commands of one line."""

    def __init__(self, access: RunsCommand, *, tool: str, rules: Sequence[Rule], context: PolicyContext) -> None:
        self._access = access
        self._tool = tool
        self._limiting = tuple(rule for rule in rules if rule.verdict != "allow")
        self._allowing = tuple(rule for rule in rules if rule.verdict == "allow" and rule.concerns(tool, access))
        self._context = context

    def limits(self, command: SimpleCommand, *, risk: Assessment) -> Iterator[tuple[Rule, Match]]:
        """Deny and ask rules that this command meets, in any of its spellings or through a file or host it names."""
        for rule in self._limiting:
            if rule.concerns(self._tool, self._access):
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
                yield rule, "yes"

    def allowing(self, command: SimpleCommand, *, risk: Assessment) -> Rule | None:
        """The first rule that allows this command, or None."""
        return next((rule for rule in self._allowing if _allows(rule, command, risk=risk)), None)


def _allows(rule: Rule, command: SimpleCommand, *, risk: Assessment) -> bool:
    if not command.argv:
        return False
    if any(redirect.target is None and not redirect.operator.startswith("<<") for redirect in command.redirects):
        return False
    words = _words(command)
    if rule.matches_words(words) != "yes":
        return False
    if not isinstance(rule.pattern, ShellPattern) or (risk.level != "high" and not risk.outside):
        return True
    # `shell(git push)` was not meant for `git push --force`: risky words must be spelled out, or covered by a `*`
    return rule.pattern.open_ended or rule.pattern.covers_exactly(words)


def _words(command: SimpleCommand) -> tuple[str | None, ...]:
    """What an allow rule must match: the words, after the assignments that can change what they do."""
    prefix = tuple(
        None if assignment is None or "\0" in assignment else assignment
        for assignment in command.env_prefix
        if not harmless_assignment(assignment)
    )
    argv = tuple(None if index in command.patterns else word for index, word in enumerate(command.argv))
    return (*prefix, *argv)


def _spellings(command: SimpleCommand) -> Iterator[tuple[str | None, ...]]:
    """The ways a deny rule may name this command: as written, by the program's own name, git without its options."""
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


def remembered(command: SimpleCommand) -> tuple[str, ...]:
    """The rules that "always" would store for a command; none when it cannot be written as one."""
    words = [word for word in _words(command) if word is not None]
    if len(words) != len(_words(command)) or not words or not command.argv:
        return ()
    return usable([f"shell({' '.join(quoted(word) for word in words)})"])


def shown_command(command: SimpleCommand) -> str:
    """A command as a reason names it."""
    assignments = (part.replace("\0", "…") if part else "…" for part in command.env_prefix)
    text = " ".join((*assignments, *("…" if word is None else quoted(word) for word in command.argv)))
    text = re.sub(r"\s+", " ", text) or "a redirection"
    return f"`{text}`" if len(text) <= _LONGEST_SHOWN else f"`{text[:_LONGEST_SHOWN]}…`"

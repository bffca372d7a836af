"""Whether a command line may run: every command in it, and every file its redirections touch."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from claw_acp.contracts.tool import FetchesUrl, ReadsPath, RunsCommand, WritesPath
from claw_acp.security.command_paths import Places, PolicyContext
from claw_acp.security.command_risk import Assessment, assess
from claw_acp.security.path_policy import judge_path, matching_rules
from claw_acp.security.read_only_commands import harmless_assignment
from claw_acp.security.rules import Match, Rule, host_of
from claw_acp.security.shell_command import SimpleCommand
from claw_acp.security.shell_pattern import ShellPattern, quoted
from claw_acp.security.shell_syntax import parse
from claw_acp.security.shell_wrappers import git_arguments
from claw_acp.security.verdicts import PLAN_ONLY_READS, Finding, Mode, by_rule, usable

_URL = re.compile(r"https?://[^\s'\"]+", re.IGNORECASE)
_LONGEST_SHOWN = 80  # characters of a command in a reason


def judge_line(
    access: RunsCommand, *, tool: str, rules: Sequence[Rule], mode: Mode, context: PolicyContext
) -> list[Finding]:
    """The findings about one command line, at least one."""
    parsed = parse(access.line)
    judge = _Judge(access, tool=tool, rules=rules, mode=mode, context=context)
    findings: list[Finding] = []
    places = Places(bases=(access.cwd,), context=context)
    for command in parsed.commands:
        findings += judge.command(command, places=places)
        places = places.after(command)
    for doubt in parsed.doubts:
        verdict = "deny" if mode == "plan" else "ask"
        lead = PLAN_ONLY_READS if mode == "plan" else "it is not certain what this line runs"
        findings.append(Finding(verdict=verdict, reason=f"{lead}: {doubt}"))
    return findings or [Finding(verdict="allow", reason="the line runs nothing")]


class _Judge:
    """One command line and everything its commands are measured by."""

    def __init__(
        self, access: RunsCommand, *, tool: str, rules: Sequence[Rule], mode: Mode, context: PolicyContext
    ) -> None:
        self._access = access
        self._rules = rules
        self._tool = tool
        self._mode: Mode = mode
        self._context = context

    def command(self, command: SimpleCommand, *, places: Places) -> Iterator[Finding]:
        """The findings about one command."""
        risk = assess(command, places=places)
        yield self._verdict(command, risk=risk)
        for redirect in command.redirects:
            for path in places.resolve(redirect.target) if redirect.target else ():
                if path not in {*risk.reads, *risk.writes}:
                    continue  # /dev/null and its like
                touch = WritesPath(path=path) if redirect.writes else ReadsPath(path=path)
                yield judge_path(touch, tool=self._tool, rules=self._rules, mode=self._mode, context=self._context)

    def _verdict(self, command: SimpleCommand, *, risk: Assessment) -> Finding:
        shown = _shown(command)
        if risk.forbidden:
            return Finding(verdict="deny", reason=f"{shown} is refused: {risk.forbidden}")
        limits = list(self._limits(command, risk=risk))
        for rule, _ in (found for found in limits if found[0].verdict == "deny" and found[1] == "yes"):
            return by_rule(rule, shown)
        if self._mode == "plan" and risk.level != "read_only":
            return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {shown} {risk.reason}")
        for rule, _ in limits:
            return by_rule(rule, shown, verdict="ask")
        if command.elevated:
            # the command that changes the user is in the list too, and is what rules are about
            return Finding(verdict="allow", reason=f"{shown} runs inside a command that is judged as a whole")
        for rule in self._rules:
            if rule.verdict == "allow" and self._allows(rule, command, risk=risk):
                return by_rule(rule, shown)
        return self._by_mode(command, risk=risk, shown=shown)

    def _by_mode(self, command: SimpleCommand, *, risk: Assessment, shown: str) -> Finding:
        if risk.level == "read_only" and not risk.outside:
            return Finding(verdict="allow", reason=f"{shown} only reads")
        if self._mode == "auto" and risk.level != "high" and not risk.outside:
            return Finding(verdict="allow", reason=f"{shown} is allowed in auto mode")
        remember = () if risk.level == "high" else _remembered(command)
        return Finding(verdict="ask", reason=f"{shown} {risk.reason}", remember=remember)

    def _limits(self, command: SimpleCommand, *, risk: Assessment) -> Iterator[tuple[Rule, Match]]:
        """Deny and ask rules that this command meets, in any of its spellings or through a file or host it names."""
        limits = [rule for rule in self._rules if rule.verdict != "allow"]
        for rule in limits:
            if rule.concerns(self._tool, self._access):
                answers = {rule.matches_words(words) for words in _spellings(command)}
                if answers & {"yes", "maybe"}:
                    yield rule, "yes" if "yes" in answers else "maybe"
        touches = (
            *(ReadsPath(path=path) for path in risk.reads),
            *(WritesPath(path=path) for path in risk.writes),
        )
        for touch in touches:
            for rule in matching_rules(touch, tool=self._tool, rules=limits, context=self._context):
                yield rule, "yes"
        addresses = [FetchesUrl(url=url) for word in command.argv for url in _URL.findall(word or "")]
        for address, rule in product(addresses, limits):
            if rule.concerns(self._tool, address) and rule.matches_host(host_of(address.url) or ""):
                yield rule, "yes"

    def _allows(self, rule: Rule, command: SimpleCommand, *, risk: Assessment) -> bool:
        if not rule.concerns(self._tool, self._access) or not command.argv:
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


def _remembered(command: SimpleCommand) -> tuple[str, ...]:
    words = [word for word in _words(command) if word is not None]
    if len(words) != len(_words(command)) or not words or not command.argv:
        return ()
    return usable([f"shell({' '.join(quoted(word) for word in words)})"])


def _shown(command: SimpleCommand) -> str:
    assignments = (part.replace("\0", "…") if part else "…" for part in command.env_prefix)
    text = " ".join((*assignments, *("…" if word is None else quoted(word) for word in command.argv)))
    text = re.sub(r"\s+", " ", text) or "a redirection"
    return f"`{text}`" if len(text) <= _LONGEST_SHOWN else f"`{text[:_LONGEST_SHOWN]}…`"

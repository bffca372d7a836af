"""The decision whether a command line may run: every command in it, and every file its redirections touch."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from claw_acp.contracts.tool import Reach, ReadsPath, RunsCommand, WritesPath, widest
from claw_acp.core.mode import Mode
from claw_acp.core.value import replace
from claw_acp.security.command_paths import Places, PolicyContext
from claw_acp.security.command_reach import needed_reach
from claw_acp.security.command_risk import Assessment, assess
from claw_acp.security.command_rules import CommandRules, agreed_here, permitted_reach, shown_command, wider
from claw_acp.security.forbidden import harmless_device
from claw_acp.security.path_policy import judge_path, matching_rules
from claw_acp.security.program_policy import judge_program
from claw_acp.security.read_only.commands import looks_of
from claw_acp.security.read_only.plain_line import PlainLine, read_line
from claw_acp.security.read_only_lines import assess_looks, with_repository
from claw_acp.security.rules import Rule
from claw_acp.security.shell_command import ParsedLine, Redirect, SimpleCommand
from claw_acp.security.shell_grammar import traps
from claw_acp.security.shell_syntax import opened, parse
from claw_acp.security.untrusted_commands import sources_of_command
from claw_acp.security.verdicts import PLAN_ONLY_READS, Finding, by_rule

MOST_WORDS: Final = 1_000
"""The most words and redirections of one line to check; a longer line is always asked about."""

TEMPORARY: Final = Path("/tmp")  # noqa: S108
"""In a sandbox, a directory of the session's commands alone."""

NO_SANDBOX: Final = "no sandbox works on this machine, so auto mode asks"
_OUTSIDE: Final = "it would run outside of the sandbox"


def judge_line(
    access: RunsCommand, *, tool: str, rules: Sequence[Rule], mode: Mode, context: PolicyContext
) -> list[Finding]:
    """The findings about one command line, at least one.

    Only a plain line can be allowed because it only reads, or because a rule covers it: there the strict reader of that
    small language and the general parser agree on the commands. The commands of any other line are known from the
    general parser alone; that suffices for questions, refusals and auto mode.
    """
    if access.needs is not None:
        return [judge_program(access, tool=tool, rules=rules, mode=mode, context=context)]
    if context.commands == "sandboxed" and access.reach == "project":
        context = replace(context, temporary=TEMPORARY)
    parsed = parse(access.line)
    plain = read_line(access.line)
    if plain is None or parsed.misread or not plain.agrees_with(parsed.written):
        plain = None
    if sum(len(command.argv) + len(command.redirects) for command in parsed.commands) > MOST_WORDS:
        verdict = "deny" if mode == "plan" else "ask"
        return [
            Finding(
                verdict=verdict,
                reason=f"the line has more than {MOST_WORDS} words, too many to look through",
                reach=access.reach,
            )
        ]
    judge = _Judge(access, line=parsed, plain=plain, tool=tool, rules=rules, mode=mode, context=context)
    places = Places(bases=(access.cwd,), context=context)
    findings = list(judge.any_line(places) if plain is None else judge.plain_line(plain, places))
    if plain is not None and not plain.commands:
        findings.append(Finding(verdict="allow", reason="the line runs nothing", reach="reading"))
    if context.commands == "sandboxed":
        findings = list(_whole(findings, wanted=access.reach, mode=mode))
    return findings or [Finding(verdict="ask", reason="no command was found in the line")]


class _Judge:
    """One command line with everything its commands are judged by."""

    def __init__(
        self,
        access: RunsCommand,
        *,
        line: ParsedLine,
        plain: PlainLine | None,
        tool: str,
        rules: Sequence[Rule],
        mode: Mode,
        context: PolicyContext,
    ) -> None:
        self._command_rules = CommandRules(
            access, line=line, plain=plain is not None, tool=tool, rules=rules, context=context
        )
        self._access = access
        self._parsed = line
        self._rules = rules
        self._tool = tool
        self._mode: Mode = mode
        self._context = context
        self._wanted: Reach | None = (
            access.reach if context.commands == "sandboxed" and access.reach != "project" else None
        )

    def any_line(self, places: Places) -> Iterator[Finding]:
        """The findings about a line whose commands only the general parser knows."""
        for command in self._parsed.commands:
            yield from self._command(command, assess(command, places=places), places=places)
            places = places.after(command)
        yield from self._doubts((*self._parsed.doubts, *traps(self._access.line)))

    def plain_line(self, line: PlainLine, places: Places) -> Iterator[Finding]:
        """The findings about a plain line, each command judged where it runs."""
        certain = True  # whether all that came before in this list is sure to have been done
        writes = any(redirect.writes for plain in line.commands for redirect in _to_files(plain.command))
        for index, plain in enumerate(line.commands):
            command, looks, started = plain.command, looks_of(line, index), opened(plain.command)
            if looks is not None:
                risk = assess_looks(command, looks, places=places, writes=writes, limited=self._limited())
                yield from self._command(command, risk, places=places, started=started.commands)
            else:
                for inner in started.commands:
                    risk = with_repository(inner, assess(inner, places=places), places=places)
                    yield from self._command(inner, risk, places=places)
                yield from self._doubts(started.doubts)
            certain = plain.joint in {"", ";"} or (certain and plain.joint == "&&")
            target = _certain_target(line, index, places=places) if certain else None
            places = places.after(command) if target is None else places.moved(target)
            certain = target is not None

    def _limited(self) -> Callable[[Path], bool] | None:
        """Return a test for files with a rule that refuses reading or asks about it; None without such rules."""
        limits = [rule for rule in self._rules if rule.verdict != "allow"]
        about = [rule for rule in limits if rule.concerns(self._tool, ReadsPath(path=Path("/")))]
        if not about:
            return None
        return lambda path: any(
            matching_rules(ReadsPath(path=path), tool=self._tool, rules=about, context=self._context)
        )

    def _doubts(self, reasons: Sequence[str]) -> Iterator[Finding]:
        plans = self._mode == "plan"
        lead = PLAN_ONLY_READS if plans else "it is not certain what this line runs"
        for doubt in reasons:
            yield Finding(verdict="deny" if plans else "ask", reason=f"{lead}: {doubt}")

    def _command(
        self, command: SimpleCommand, risk: Assessment, *, places: Places, started: Sequence[SimpleCommand] = ()
    ) -> Iterator[Finding]:
        """The findings about one command and the programs it starts."""
        verdict = self._verdict(command, risk=risk, started=started)
        if brings := sources_of_command(command, reads=(*risk.reads, *risk.outside), context=self._context):
            verdict = replace(verdict, brings=brings)
        yield replace(verdict, readable=risk.outside) if risk.level == "read_only" else verdict
        touched = {*risk.reads, *risk.writes}
        for redirect in dict.fromkeys(command.redirects):
            for path in places.resolve(redirect.target) if redirect.target else ():
                if path not in touched:
                    continue  # /dev/null and its like
                touch = WritesPath(path=path) if redirect.writes else ReadsPath(path=path)
                found = judge_path(touch, tool=self._tool, rules=self._rules, mode=self._mode, context=self._context)
                yield replace(found, reach="project") if redirect.writes else found

    def _verdict(self, command: SimpleCommand, *, risk: Assessment, started: Sequence[SimpleCommand]) -> Finding:
        shown = shown_command(command)
        if risk.forbidden:
            return Finding(verdict="deny", reason=f"{shown} is refused: {risk.forbidden}")
        needed = needed_reach(command, risk=risk)
        reach = (
            needed if needed == "reading" and self._wanted != "machine" else widest((needed, self._wanted)) or needed
        )
        named = (command, *(other for other in started if other != command))
        limits = [found for each in named for found in self._command_rules.limits(each, risk=risk, reach=reach)]
        for rule, _ in (found for found in limits if found[0].verdict == "deny" and found[1] == "yes"):
            return by_rule(rule, shown)
        if self._mode == "plan" and risk.level != "read_only":
            return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {shown} {risk.reason}")
        for rule, _ in limits:
            return by_rule(rule, shown, verdict="ask", reach=reach)
        if command.elevated:
            # the command that changes the user is in the list too, and is what rules are about
            return Finding(verdict="allow", reason=f"{shown} runs inside a command that is judged as a whole")
        if reach == "machine" and needed != "machine":
            return self._by_wish(command, risk=risk, shown=shown)
        allowing = self._command_rules.allowing(command, outside=bool(risk.outside))
        if allowing and not (risk.distrusted and not agreed_here(allowing)):
            return by_rule(allowing, shown, reach=widest((reach, permitted_reach(allowing))))
        return self._by_mode(command, risk=risk, shown=shown, reach=reach)

    def _by_wish(self, command: SimpleCommand, *, risk: Assessment, shown: str) -> Finding:
        """The finding about a command that the model wants to run outside of the sandbox: no mode allows that."""
        allowing = self._command_rules.allowing(command, outside=bool(risk.outside), reach="machine")
        if allowing is not None:
            return by_rule(allowing, shown, reach="machine")
        if self._mode == "plan":
            return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {shown} is not run outside of the sandbox")
        remember = self._command_rules.remembered(command, tool="outside")
        reason = f"the model says that {shown} needs more than the sandbox lets it have"
        return Finding(verdict="ask", reason=reason, remember=remember, reach="machine")

    def _by_mode(self, command: SimpleCommand, *, risk: Assessment, shown: str, reach: Reach) -> Finding:
        if risk.level == "read_only" and not risk.outside:
            return Finding(verdict="allow", reason=f"{shown} only reads", reach="reading")
        reason, protection = f"{shown} {risk.reason}", self._context.commands
        if self._mode == "auto" and risk.level != "high" and not risk.outside:
            if protection == "open" or (protection == "sandboxed" and reach != "machine"):
                return Finding(verdict="allow", reason=f"{shown} is allowed in auto mode", reach=reach)
            reason = f"{reason}; {_OUTSIDE if protection == 'sandboxed' else NO_SANDBOX}"
        remember = () if risk.level == "high" else self._command_rules.remembered(command)
        wide = wider(remember[0]) if remember else ()
        return Finding(verdict="ask", reason=reason, remember=remember, wider=wide, reach=reach)


def _whole(findings: Sequence[Finding], *, wanted: Reach, mode: Mode) -> Iterator[Finding]:
    """The findings about a line in a sandbox, which all its commands share: none is allowed more than was found."""
    reach = widest(finding.reach for finding in findings)
    if any(finding.reach is None and finding.verdict == "ask" for finding in findings):
        reach = widest((reach, wanted))
    for finding in findings:
        if reach == "machine" and finding.verdict == "allow" and finding.reach not in {None, reach}:
            verdict = "deny" if mode == "plan" else "ask"
            yield replace(finding, verdict=verdict, reason=f"{finding.reason}, but here {_OUTSIDE}")
        elif finding.reach is None and finding.verdict == "ask":
            yield replace(finding, reach=reach)
        else:
            yield finding


def _certain_target(line: PlainLine, index: int, *, places: Places) -> str | None:
    """The target of a `cd` that certainly runs and lasts; None for any other command."""
    plain = line.commands[index]
    in_pipe = index + 1 < len(line.commands) and line.commands[index + 1].joint == "|"
    argv = plain.command.argv
    target = argv[1] if argv[0] == "cd" and len(argv) == 2 and not plain.command.patterns else None
    if not target or target.startswith("-") or plain.nested or in_pipe or plain.joint == "|" or plain.command.redirects:
        return None
    reached = all(place.is_dir() and os.access(place, os.X_OK) for place in places.resolve(target))
    return target if places.bases and reached and places.leads_straight(target) else None


def _to_files(command: SimpleCommand) -> Iterator[Redirect]:
    return (redirect for redirect in command.redirects if not harmless_device(redirect.target or ""))

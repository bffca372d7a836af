"""Whether a command line may run: every command in it, and every file its redirections touch."""

from collections.abc import Iterator, Sequence

from claw_acp.contracts.tool import ReadsPath, RunsCommand, WritesPath
from claw_acp.security.command_paths import Places, PolicyContext
from claw_acp.security.command_risk import Assessment, assess
from claw_acp.security.command_rules import CommandRules, shown_command, wider
from claw_acp.security.path_policy import judge_path
from claw_acp.security.rules import Rule
from claw_acp.security.shell_command import ParsedLine, SimpleCommand
from claw_acp.security.shell_syntax import parse
from claw_acp.security.verdicts import PLAN_ONLY_READS, Finding, Mode, by_rule


def judge_line(
    access: RunsCommand, *, tool: str, rules: Sequence[Rule], mode: Mode, context: PolicyContext
) -> list[Finding]:
    """The findings about one command line, at least one."""
    parsed = parse(access.line)
    judge = _Judge(access, line=parsed, tool=tool, rules=rules, mode=mode, context=context)
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
        self,
        access: RunsCommand,
        *,
        line: ParsedLine,
        tool: str,
        rules: Sequence[Rule],
        mode: Mode,
        context: PolicyContext,
    ) -> None:
        self._command_rules = CommandRules(access, line=line, tool=tool, rules=rules, context=context)
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
        shown = shown_command(command)
        if risk.forbidden:
            return Finding(verdict="deny", reason=f"{shown} is refused: {risk.forbidden}")
        limits = list(self._command_rules.limits(command, risk=risk))
        for rule, _ in (found for found in limits if found[0].verdict == "deny" and found[1] == "yes"):
            return by_rule(rule, shown)
        if self._mode == "plan" and risk.level != "read_only":
            return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {shown} {risk.reason}")
        for rule, _ in limits:
            return by_rule(rule, shown, verdict="ask")
        if command.elevated:
            # the command that changes the user is in the list too, and is what rules are about
            return Finding(verdict="allow", reason=f"{shown} runs inside a command that is judged as a whole")
        allowing = self._command_rules.allowing(command)
        if allowing:
            return by_rule(allowing, shown)
        return self._by_mode(command, risk=risk, shown=shown)

    def _by_mode(self, command: SimpleCommand, *, risk: Assessment, shown: str) -> Finding:
        if risk.level == "read_only" and not risk.outside:
            return Finding(verdict="allow", reason=f"{shown} only reads")
        if self._mode == "auto" and risk.level != "high" and not risk.outside:
            return Finding(verdict="allow", reason=f"{shown} is allowed in auto mode")
        remember = () if risk.level == "high" else self._command_rules.remembered(command)
        wide = wider(remember[0]) if remember else ()
        return Finding(verdict="ask", reason=f"{shown} {risk.reason}", remember=remember, wider=wide)

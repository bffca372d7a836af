"""The decision whether a tool call may run, must be asked about, or must not; and why.

Refusals come before questions, questions before permissions, permissions before the mode. The accesses of a call are
judged one by one; the strictest decides. In plan mode no rule widens what a call may change.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, assert_never

from claw_acp.contracts.tool import (
    Access,
    ActsLater,
    ChangesMemory,
    EvaluatesCode,
    FetchesUrl,
    ReadsPath,
    RunsCommand,
    UsesServer,
    WritesPath,
)
from claw_acp.core.mode import Mode
from claw_acp.core.value import replace
from claw_acp.registry.reference import Ref
from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.forbidden import forbidden
from claw_acp.security.host_pattern import HostPattern
from claw_acp.security.path_policy import judge_path, matching_rules
from claw_acp.security.permission_store import SOURCE
from claw_acp.security.rules import Rule, host_of
from claw_acp.security.untrusted_text import distrusted
from claw_acp.security.verdicts import PLAN_ONLY_READS, Decision, Finding, by_rule, strictest, usable

JUDGE_LINE: Final[Ref[Callable[..., list[Finding]]]] = Ref("claw_acp.security.command_policy:judge_line")
"""By name, because the parsers and tables take 50 ms to load; a turn without commands needs none."""

LONGEST_SAID: Final = 300  # characters of the description of a tool that has changed

__all__ = ["Decision", "Mode", "Policy", "PolicyContext"]


class Policy:
    """Decides by rules. It keeps nothing between decisions and changes nothing on the machine.

    Args:
        rules: The rules in force.
        known: The digests of servers' tools as they were when first called in this project, or last allowed for good.
    """

    def __init__(self, rules: Sequence[Rule] = (), *, known: Mapping[str, str] | None = None) -> None:
        self._rules = tuple(rules)
        self.known_tools: Mapping[str, str] = known or {}

    def decide(self, *, tool: str, accesses: Sequence[Access], mode: Mode, context: PolicyContext) -> Decision:
        """Judge one call.

        Args:
            tool: The tool's name.
            accesses: The call's effects, with absolute and resolved paths. Without any, only rules that name the tool
                can stop it.
            mode: The session's mode.
            context: The session's environment.
        """
        findings = list(self._about_tool(tool))
        for access in accesses:
            judged = self._judge(access, tool=tool, mode=mode, context=context)
            findings += (distrusted(finding, access, context=context) for finding in judged)
        return strictest(findings)

    def _judge(self, access: Access, *, tool: str, mode: Mode, context: PolicyContext) -> Sequence[Finding]:
        match access:
            case ReadsPath() | WritesPath():
                return [judge_path(access, tool=tool, rules=self._rules, mode=mode, context=context)]
            case RunsCommand():
                return JUDGE_LINE.load()(access, tool=tool, rules=self._rules, mode=mode, context=context)
            case FetchesUrl():
                return [self._judge_url(access, tool=tool, mode=mode, context=context)]
            case UsesServer():
                return [self._judge_server(access, tool=tool, mode=mode)]
            case ActsLater():
                return [self._judge_job(access, tool=tool, mode=mode)]
            case ChangesMemory():
                return [self._judge_memory(access, tool=tool, mode=mode)]
            case EvaluatesCode():
                return [self._judge_code(tool=tool, mode=mode, sandboxed=context.commands == "sandboxed")]
            case _:
                assert_never(access)

    def hides(self, path: Path, *, tool: str, context: PolicyContext) -> str | None:
        """The reason a permitted search must still skip this file, or None."""
        why = forbidden(path, home=context.home, protected=context.protected)
        if why and not context.is_own_result(path):
            return why
        denying = [rule for rule in self._rules if rule.verdict == "deny"]
        found = next(matching_rules(ReadsPath(path=path), tool=tool, rules=denying, context=context), None)
        return f"the rule `{found.text}` forbids reading it" if found else None

    @property
    def rules(self) -> Sequence[Rule]:
        """All rules in force."""
        return self._rules

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Hosts that may be on a private network: by a rule, or by their name."""
        allowing = (rule for rule in self._rules if rule.verdict == "allow" and rule.tool in {"fetch", "request"})
        patterns = (rule.pattern for rule in allowing)
        return tuple(pattern.name for pattern in patterns if isinstance(pattern, HostPattern) and pattern.private)

    def _about_tool(self, tool: str) -> list[Finding]:
        """Findings from rules that name the tool itself."""
        named = [
            rule for rule in self._rules if rule.pattern is None and rule.concerns(tool) and rule.verdict != "allow"
        ]
        return [by_rule(rule, f"the tool {tool}") for rule in named]

    def _judge_server(self, access: UsesServer, *, tool: str, mode: Mode) -> Finding:
        """The finding about a server's tool: its claim to only read is worth a question in plan mode, never more."""
        kind = "MCP server" if access.source == "mcp" else "attached program"
        what = f"{access.tool} of the {kind} {access.server}"
        allowing = (rule for rule in self._rules if rule.verdict == "allow" and rule.concerns(tool))
        rule = next((rule for rule in allowing if rule.pattern is None), None)
        if mode == "plan":
            if access.reads_only:
                return Finding(verdict="ask", reason=f"{what} says that it only reads, which cannot be checked")
            return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {what} may do more")
        if access.altered:
            reason = f"{what} describes itself otherwise than when this session began{_said(access)}"
            return Finding(verdict="ask", reason=reason)
        remember = () if access.shared else usable([tool])
        changed = self.known_tools.get(tool, access.digest) != access.digest
        if changed and (rule is None or rule.source == SOURCE):
            reason = f"{what} describes itself otherwise than when it was allowed in this project{_said(access)}"
            return Finding(verdict="ask", reason=reason, remember=remember)
        if rule is not None:
            return by_rule(rule, f"calling {what}")
        if access.destroys:
            return Finding(verdict="ask", reason=f"{what} may destroy something, as the server says", remember=remember)
        if mode == "auto":
            return Finding(verdict="allow", reason=f"auto mode calls {what} by itself")
        return Finding(verdict="ask", reason=f"{what} works outside this program", remember=remember)

    def _judge_job(self, access: ActsLater, *, tool: str, mode: Mode) -> Finding:
        """The finding about a job for later: whatever the mode, a person agrees to each."""
        what = f"the job {access.job}"
        if mode == "plan":
            return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {what} would act later")
        named = (rule for rule in self._rules if rule.verdict == "allow" and rule.pattern is None and rule.tool == tool)
        rule = next(named, None)
        if rule is not None:
            return by_rule(rule, what)
        return Finding(verdict="ask", reason=f"{what} acts later, when nobody is there")

    def _judge_memory(self, access: ChangesMemory, *, tool: str, mode: Mode) -> Finding:
        """The finding about a lasting note: what the person did not say themselves is theirs to agree to.

        A rule covers the notes of projects: files of one must not decide what is told in all others.
        """
        scope = " in every project" if access.everywhere else ""
        what = "forgetting a note" if access.operation == "forget" else f"keeping a note for later conversations{scope}"
        if mode == "plan":
            return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {what} would change the memory")
        named = (rule for rule in self._rules if rule.verdict == "allow" and rule.pattern is None and rule.tool == tool)
        rule = None if access.everywhere else next(named, None)
        if rule is not None:
            return by_rule(rule, what)
        if access.said and mode in {"edit", "auto"}:
            return Finding(verdict="allow", reason="the note says no more than the person said in this conversation")
        remember = () if access.everywhere or access.operation == "forget" else usable([tool])
        reason = what if access.said or access.operation == "forget" else f"{what}, which says more than you said"
        return Finding(verdict="ask", reason=reason, remember=remember)

    def _judge_code(self, *, tool: str, mode: Mode, sandboxed: bool) -> Finding:
        """The finding about code that only computes: without a sandbox it could do anything, so each is asked about."""
        if not sandboxed:
            verdict = "deny" if mode == "plan" else "ask"
            return Finding(verdict=verdict, reason="the code would run without a sandbox, as your own programs do")
        named = (rule for rule in self._rules if rule.verdict == "allow" and rule.pattern is None and rule.tool == tool)
        rule = next(named, None)
        if rule is not None:
            return replace(by_rule(rule, "running code that changes nothing"), reach="reading")
        what = "it runs code, which can change nothing and reach no network"
        if mode == "auto":
            return Finding(verdict="allow", reason=what, reach="reading")
        return Finding(verdict="ask", reason=what, remember=usable([tool]), reach="reading")

    def _judge_url(self, access: FetchesUrl, *, tool: str, mode: Mode, context: PolicyContext) -> Finding:
        host = host_of(access.url)
        if host is None:
            verdict = "deny" if mode == "plan" else "ask"
            return Finding(verdict=verdict, reason="the address has no host that could be checked")
        what = _request(access, host)
        concerning = [rule for rule in self._rules if rule.concerns(tool, access)]
        matching = [rule for rule in concerning if rule.matches_request(access, host=host)]
        for verdict in ("deny", "ask", "allow"):
            for rule in matching:
                if rule.verdict == verdict and not (verdict == "allow" and mode == "plan" and access.changes):
                    return by_rule(rule, what)
        if mode == "plan" and access.changes:
            return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {what} may do more")
        if not access.only_fetches:
            return Finding(verdict="ask", reason=what, remember=usable([f"request({access.method} {host})"]))
        if mode == "plan":
            return Finding(
                verdict="deny", reason=f"{PLAN_ONLY_READS}; it does not fetch from {host} unless a rule allows it"
            )
        if mode == "auto" and (access.configured or (context.names_host is not None and context.names_host(host))):
            whose = "a service of the settings" if access.configured else f"{host}, which you named"
            return Finding(verdict="allow", reason=f"auto mode fetches from {whose}")
        reason = f"it sends a request to {host}"
        if mode == "auto":  # the project may be a stranger's, and one address can carry what was read
            reason = f"{reason}, which you have not named in this conversation"
        return Finding(verdict="ask", reason=reason, remember=usable([f"fetch({host})"]))


def _said(access: UsesServer) -> str:
    """The tool's words about itself, for the end of a sentence."""
    said = " ".join(access.description.split())
    shown = said if len(said) <= LONGEST_SAID else f"{said[: LONGEST_SAID - 1]}…"
    return f"; it now says of itself “{shown}”" if shown else ""


def _request(access: FetchesUrl, host: str) -> str:
    if access.only_fetches:
        return f"fetching from {host}"
    with_secret = f" with the secret {access.secret}" if access.secret else ""
    return f"a {access.method} request{with_secret} to {host}"

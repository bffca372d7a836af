"""The decision whether one file may be read or written."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from claw_acp.contracts.tool import ReadsPath, WritesPath
from claw_acp.core.mode import Mode
from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.forbidden import forbidden, forbidden_to_write, holds_forbidden
from claw_acp.security.guarded import guarded
from claw_acp.security.guarded_names import guarded_by_name
from claw_acp.security.rules import PathPattern, Rule, RuleVerdict, rule_for_path
from claw_acp.security.verdicts import PLAN_ONLY_READS, Finding, by_rule, usable

_CONTENT_SEARCHES = frozenset({"grep"})
_RESULT_READERS = frozenset({"read_file", "grep"})


def judge_path(
    access: ReadsPath | WritesPath, *, tool: str, rules: Sequence[Rule], mode: Mode, context: PolicyContext
) -> Finding:
    """The finding about one file or directory."""
    path = access.path
    writes = isinstance(access, WritesPath)
    result = not writes and tool in _RESULT_READERS and context.is_result(path)
    refused = None if result else _protected(path, writes=writes, context=context)
    if refused:
        return Finding(verdict="deny", reason=f"{path} is protected: {refused}")
    matching = list(matching_rules(access, tool=tool, rules=rules, context=context))
    limit = next(iter((*_with(matching, "deny"), *_with(matching, "ask"))), None)
    if writes and mode == "plan" and (limit is None or limit.verdict == "ask"):
        return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; it does not write {path}")
    if limit:
        return by_rule(limit, f"{'writing' if writes else 'reading'} {path}")
    if isinstance(access, WritesPath):
        return _judge_write(access, allowing=list(_with(matching, "allow")), mode=mode, context=context)
    if tool in _CONTENT_SEARCHES and holds_forbidden(path, home=context.home, protected=context.protected):
        return Finding(verdict="ask", reason=f"a search through {path} would read places that hold credentials")
    for rule in _with(matching, "allow"):
        return by_rule(rule, f"reading {path}")
    if result or context.inside(path):
        where = "the result of an earlier call" if result else "in the project"
        return Finding(verdict="allow", reason=f"{path} is {where}")
    return _ask_outside("read", path, context=context)


def matching_rules(
    access: ReadsPath | WritesPath, *, tool: str, rules: Sequence[Rule], context: PolicyContext
) -> Iterator[Rule]:
    """The rules that cover a file, in order."""
    path, roots = context.in_rules(access.path)
    for rule in rules:
        if rule.concerns(tool, access) and rule.matches_path(path, roots=roots, home=context.home):
            yield rule


def _protected(path: Path, *, writes: bool, context: PolicyContext) -> str | None:
    if writes:
        return forbidden_to_write(path, home=context.home, roots=context.roots, protected=context.protected)
    return forbidden(path, home=context.home, protected=context.protected)


def _with(rules: Sequence[Rule], verdict: RuleVerdict) -> Iterator[Rule]:
    return (rule for rule in rules if rule.verdict == verdict)


def _judge_write(access: WritesPath, *, allowing: Sequence[Rule], mode: Mode, context: PolicyContext) -> Finding:
    path = access.path
    guard = guarded(path, context=context)
    for rule in allowing:
        if guard is None or _names_guarded(rule):
            return by_rule(rule, f"writing {path}")
    if guard:
        return Finding(verdict="ask", reason=f"{path} is asked about in every mode: {guard}")
    if not context.inside(path):
        return _ask_outside("write", path, context=context)
    if mode in {"edit", "auto"} and access.caution is None:
        return Finding(verdict="allow", reason=f"{path} is in the project, and {mode} mode edits there without asking")
    remember = _remembered("write", path, context=context)
    return Finding(verdict="ask", reason=access.caution or f"it writes {path}", remember=remember)


def _names_guarded(rule: Rule) -> bool:
    """Return whether a rule spells out the guarded place: `write(**)` was not meant for hooks in .git."""
    pattern = rule.pattern
    return isinstance(pattern, PathPattern) and guarded_by_name(Path(pattern.glob.strip("/"))) is not None


def _ask_outside(kind: Literal["read", "write"], path: Path, *, context: PolicyContext) -> Finding:
    remember = _remembered(kind, path, context=context)
    return Finding(verdict="ask", reason=f"{path} is outside the project", remember=remember)


def _remembered(kind: Literal["read", "write"], path: Path, *, context: PolicyContext) -> tuple[str, ...]:
    if path.name != path.name.strip():
        return ()  # .gitignore drops blanks at the end: the rule would mean the directory
    named, roots = context.in_rules(path)
    return usable([rule_for_path(kind, named, roots=roots, home=context.home)])

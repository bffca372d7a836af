"""The output of `claw-acp verify`: a table of all rules, then every failure with its frames."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from claw_acp.cli.terminal.paint import Colour, Paint, columns
from claw_acp.core.printable import printable
from claw_acp.verify.frames import Frame
from claw_acp.verify.rule import Level, Outcome, Rule, Verdict
from claw_acp.verify.run import Report

_COLOURS: Mapping[Outcome, Colour] = {"pass": "green", "fail": "red", "skipped": "dim", "not tried": "yellow"}
_NOTE = 90  # characters of a reason in the table; the whole of it stands below
_STORY = 40  # frames of what was said before a failure, with -v


def failures(report: Report, *, strict: bool) -> list[Verdict]:
    """The failures that make the run a failed one."""
    counted: tuple[Level, ...] = ("MUST", "SHOULD") if strict else ("MUST",)
    return [verdict for verdict in report.verdicts if verdict.outcome == "fail" and verdict.rule.level in counted]


def rule_lines(rules: Sequence[Rule]) -> list[str]:
    """Every rule for `--list`: id, level, text and source."""
    return columns([(rule.id, rule.level, rule.text, f"({rule.source})") for rule in rules])


def plain(report: Report, *, verbose: bool, paint: Paint) -> Iterator[str]:
    """The report for people, line by line."""
    rows = [_row(verdict) for verdict in report.verdicts]
    for verdict, line in zip(report.verdicts, columns(rows), strict=True):
        yield paint(line, _COLOURS[verdict.outcome]) if verdict.outcome != "pass" else line
    for verdict in report.verdicts:
        if verdict.outcome == "fail":
            yield ""
            yield from _failure(verdict, verbose=verbose, paint=paint)
    yield ""
    yield f"{report.agent or 'a program without a name'}, protocol {report.protocol}: {_counts(report)}"


def _row(verdict: Verdict) -> tuple[str, str, str, str]:
    note = printable(" ".join(verdict.reason.split()))
    short = note if len(note) <= _NOTE else note[: _NOTE - 1] + "…"
    return verdict.outcome, verdict.rule.level, verdict.rule.id, short


def _failure(verdict: Verdict, *, verbose: bool, paint: Paint) -> Iterator[str]:
    rule = verdict.rule
    yield paint(f"FAIL {rule.level} {rule.id}", "bold")
    yield f"  rule  {rule.text} ({rule.source})"
    yield f"  but   {printable(verdict.reason)}"
    for frame in verdict.frames:
        yield f"  {_shown(frame)}"
    if verbose and verdict.story:
        left_out = len(verdict.story) - _STORY
        yield "  all frames:" if left_out <= 0 else f"  the last frames ({left_out} lines before):"
        for frame in verdict.story[-_STORY:]:
            yield f"    {frame.at:8.3f} s  {_shown(frame)}"


def _shown(frame: Frame) -> str:
    return printable(frame.text())


def _counts(report: Report) -> str:
    outcomes = Counter(verdict.outcome for verdict in report.verdicts)
    failed = Counter(verdict.rule.level for verdict in report.verdicts if verdict.outcome == "fail")
    levels = ", ".join(f"{count} {level}" for level, count in failed.items())
    return (
        f"{outcomes['pass']} passed, {outcomes['fail']} failed{f' ({levels})' if levels else ''}, "
        f"{outcomes['skipped']} skipped, {outcomes['not tried']} not tried"
    )


def as_json(report: Report, *, what: str, command: Sequence[str], ok: bool) -> str:
    """The report for programs. `what` is the kind of program: `agent`, `provider`."""
    content = {
        "ok": ok,
        what: report.agent,
        "command": list(command),
        "protocol": report.protocol,
        "counts": Counter(verdict.outcome for verdict in report.verdicts),
        "rules": [_rule(verdict) for verdict in report.verdicts],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _rule(verdict: Verdict) -> Mapping[str, object]:
    rule = verdict.rule
    content: dict[str, object] = {
        "id": rule.id,
        "level": rule.level,
        "text": rule.text,
        "source": rule.source,
        "cases": list(rule.cases),
        "outcome": verdict.outcome,
    }
    if verdict.reason:
        content["reason"] = verdict.reason
    if verdict.frames:
        content["frames"] = [frame.text() for frame in verdict.frames]
    return content

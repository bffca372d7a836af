"""The question whether a tool call may run, as shown to a person: nothing masked, cut or invisible."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from claw_acp.contracts.questions import AskedCommand, PermissionQuestion
from claw_acp.contracts.tool import Invocation, RunsCommand
from claw_acp.core.events import DiffContent, PartContent, ToolContent
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.lookalikes import note_on_lookalikes
from claw_acp.core.markdown import code_span
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import in_reading_order, plain_json, plain_lines, printable
from claw_acp.core.value import replace
from claw_acp.security.permission_choices import choices_for, rules_told
from claw_acp.security.verdicts import Decision

LONGEST_TITLE = 200  # characters; what a title cannot show is in the content or in the raw input
LONGEST_CHECKED = 20_000  # characters of a text that is searched for words which look like others
MOST_NOTED = 10  # lines of a change that hold characters which cannot be seen


def question_about(
    invocation: Invocation,
    decision: Decision,
    *,
    preview: Sequence[ToolContent],
    arguments: JsonObject,
    place: str = "",
) -> PermissionQuestion:
    """The question; session and call are set by the caller. `place` is where a command would run."""
    view = invocation.view
    choices = tuple(
        replace(choice, label=in_reading_order(printable(choice.label))) for choice in choices_for(decision)
    )
    title = in_reading_order(printable(view.title))
    command = next((access for access in invocation.accesses if isinstance(access, RunsCommand)), None)
    asked = None if command is None else AskedCommand(line=_plain_text(command.line), cwd=str(command.cwd))
    where = f" It would run {place}." if place else ""
    note = note_on_lookalikes([view.title, decision.reason, *_texts(arguments), *decision.remember])
    return PermissionQuestion(
        session="",
        call_id="",
        title=title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…",
        reason=printable(f"{decision.reason}{where}{f' {note}' if note else ''}"),
        content=tuple(shown for item in preview for shown in _plain(item)),
        choices=choices,
        stored=rules_told(choices),
        kind=view.kind,
        locations=view.locations,
        raw_input=plain_json(arguments),
        command=asked,
    )


def _texts(value: JsonValue) -> Iterator[str]:
    """The texts in a JSON value, keys included, without whole files, of which people see the change."""
    match value:
        case str():
            yield from [value] if len(value) <= LONGEST_CHECKED else []
        case Mapping():
            yield from value
            yield from (text for item in value.values() for text in _texts(item))
        case Sequence():
            yield from (text for item in value for text in _texts(item))
        case _:
            pass


def _plain_text(text: str) -> str:
    return in_reading_order(plain_lines(text))


def _plain(item: ToolContent) -> Iterator[ToolContent]:
    match item:
        case PartContent(part=TextPart(text=text) as part):
            yield PartContent(part=replace(part, text=_plain_text(text)))
        case DiffContent():
            yield item  # clients draw it; it stays what will be written
            yield from _unseen_in(item)
        case _:
            yield item


def _unseen_in(change: DiffContent) -> Iterator[ToolContent]:
    """A note about new lines that do not look like what they are."""
    before = set((change.old_text or "").split("\n"))
    lines = enumerate((change.new_text or "").split("\n"), start=1)
    seen = ((number, line.replace("\t", " ").removesuffix("\r")) for number, line in lines if line not in before)
    odd = _odd(seen)
    notes = [f"- line {number}: {code_span(line)}" for number, line in islice(odd, MOST_NOTED)]
    more = sum(1 for _ in odd)
    if more:
        notes.append(f"- and {more} more lines")
    if notes:
        text = "\n".join(["The change holds characters that cannot be seen, written here as escapes:", "", *notes])
        yield PartContent(part=TextPart(text=text))


def _odd(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in lines if printable(line) != line)

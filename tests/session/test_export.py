"""A session as a document."""

import json
import math

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from claw_acp.core.events import (
    CommandContent,
    DiffContent,
    Event,
    MessageStarted,
    Notice,
    PartContent,
    PlanChanged,
    PlanEntry,
    StateChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    UsageChanged,
)
from claw_acp.core.messages import ImagePart, LinkPart, ResourcePart, TextPart, Usage
from claw_acp.session.export import to_json, to_markdown
from claw_acp.session.record import SessionRecord
from tests.session.test_codec import EVENTS

RECORD = SessionRecord(
    id="ses_1", cwd="/w", title="Fix the\nbug", mode="ask", model="p/m", created_at=0.0, updated_at=60.0
)


def turn() -> list[Event]:
    return [
        MessageStarted(
            item="u1",
            seq=1,
            role="user",
            parts=(
                TextPart(text="Please fix it"),
                LinkPart(uri="file:///w/a b.py", name="a b.py"),
                ResourcePart(uri="file:///w/x", text="see"),
                ImagePart(data="aGVsbG8h", mime_type="image/png"),
            ),
        ),
        StateChanged(item="t1", seq=2, state="running"),
        MessageStarted(item="a1", seq=3, role="assistant"),
        ThoughtDelta(item="a1", seq=4, text="Let me "),
        ThoughtDelta(item="a1", seq=5, text="think.", signature="s"),
        TextDelta(item="a1", seq=6, text="I change "),
        TextDelta(item="a1", seq=7, text="it."),
        PlanChanged(seq=8, entries=(PlanEntry(content="fix"),)),
        ToolCallChanged(
            item="c1", seq=9, message="a1", name="edit", title="Edit <x>", kind="edit", arguments='{"path":"x"}'
        ),
        ToolCallChanged(
            item="c1",
            seq=10,
            status="completed",
            content=(DiffContent(path="/w/x", old_text="one\ntwo\n", new_text="one\n2\n"),),
            output=(TextPart(text="ok"),),
        ),
        ToolCallChanged(item="c2", seq=11, message="a1", name="shell", title="make"),
        ToolCallChanged(item="c2", seq=12, status="failed", output=(TextPart(text="```\nno rule\n```"),)),
        PlanChanged(seq=13, entries=(PlanEntry(content="fix", status="completed"),)),
        UsageChanged(seq=14, used=1, size=2, request=Usage()),
        TextDelta(item="a1", seq=15, text="Done."),
        Notice(seq=16, severity="warning", title="slow", description="very"),
        StateChanged(item="t1", seq=17, state="idle", error="the model failed"),
    ]


def test_a_turn_reads_as_a_conversation_with_its_calls_folded_away() -> None:
    assert to_markdown(RECORD, turn()) == snapshot("""\
# Fix the bug

- session: `ses_1`
- directory: `/w`
- model: `p/m`, mode: `ask`
- started 1970-01-01T00:00:00.000Z, last changed 1970-01-01T00:01:00.000Z

## User

Please fix it

[a b.py](<file:///w/a b.py>)

`file:///w/x`

```
see
```

*(image/png, 6 bytes)*

## Assistant

<details>
<summary>Thinking</summary>

Let me think.

</details>

I change it.

**Plan**

- [x] fix

<details>
<summary>✓ Edit &lt;x&gt;</summary>

```json
{"path":"x"}
```

`/w/x`

```diff
@@ -1,3 +1,3 @@
 one
-two
+2
```

</details>

<details>
<summary>✗ make</summary>

````
```
no rule
```
````

</details>

## Assistant

Done.

> **warning:** slow
> very

> **error:** the model failed
""")


def test_a_command_shows_what_it_printed_and_nothing_where_it_was_silent() -> None:
    def ran(item: str, text: str) -> list[Event]:
        picture = CommandContent(terminal_id="term_1", line="make", cwd="/w", text=text, running=False, code=2)
        content = (picture, PartContent(part=TextPart(text="exit code 2")))
        return [
            ToolCallChanged(item=item, seq=1, message="a1", name="shell", title=item),
            ToolCallChanged(item=item, seq=2, status="cancelled", content=content),
        ]

    said = "```\nbroken\n```\n\n```\nexit code 2\n```"
    assert said in to_markdown(RECORD, ran("c1", "broken"))
    silent = to_markdown(RECORD, ran("c1", ""))
    assert "```\nexit code 2\n```" in silent
    assert "```\n\n```" not in silent


def test_an_untitled_session_without_events_has_a_heading() -> None:
    record = SessionRecord(id="s", cwd="/", mode="ask", model="m", created_at=0, updated_at=0)
    assert to_markdown(record, []).startswith("# Untitled session\n\n- session: `s`\n")


def test_a_huge_change_is_summed_up() -> None:
    change = DiffContent(path="x", old_text=None, new_text="line\n" * 10_000)
    event = ToolCallChanged(item="c", message="a", name="write", content=(change,))
    assert "(large change: 0 lines before, 10001 after)" in to_markdown(RECORD, [event])


def test_programs_get_every_event_as_strict_json() -> None:
    broken = ToolCallChanged(
        item="c1",
        seq=2,
        kind="read",
        raw_output={"x": [math.inf]},
        content=(PartContent(part=TextPart(text="\ud800")),),
    )
    document = json.loads(to_json(RECORD, [TextDelta(item="m", seq=1, text="grün"), broken]), parse_constant=float)
    assert document == snapshot(
        {
            "session": {
                "id": "ses_1",
                "cwd": "/w",
                "additional_directories": [],
                "title": """\
Fix the
bug\
""",
                "mode": "ask",
                "model": "p/m",
                "created_at": 0.0,
                "updated_at": 60.0,
                "archived": False,
                "title_given": False,
                "options": {},
                "instructions": None,
                "parent": None,
            },
            "events": [
                {"seq": 1, "type": "text", "item": "m", "text": "grün"},
                {
                    "seq": 2,
                    "type": "tool_call",
                    "item": "c1",
                    "kind": "read",
                    "content": [{"type": "part", "part": {"type": "text", "text": "\ud800"}}],
                    "raw_output": {"x": ["inf"]},
                },
            ],
        }
    )


def test_text_of_other_languages_stays_readable() -> None:
    assert "grün 字" in to_json(RECORD, [TextDelta(item="m", seq=1, text="grün 字")])


@settings(deadline=None)
@given(st.lists(EVENTS, max_size=8))
def test_any_events_can_be_written_as_utf8(events: list[Event]) -> None:
    to_markdown(RECORD, events).encode()
    to_json(RECORD, events).encode()

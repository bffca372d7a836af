"""Masking of what tools are given and say, however much it is."""

import anyio
import pytest

from claw_acp.agent.redacted import INLINE, WITHHELD, cleaned, redacted_content, redacted_json, redacted_parts
from claw_acp.core.events import CommandContent, PartContent
from claw_acp.core.messages import TextPart
from claw_acp.core.redaction import REDACTED, Redactor
from claw_acp.core.value import replace

KEY = "known-secret-0123456789"
LONG = "word " * (INLINE // 4)


@pytest.mark.parametrize("filling", ["", LONG])
async def test_every_text_of_a_value_is_cleaned_in_a_thread_or_without_one(filling: str) -> None:
    redactor = Redactor([KEY])
    text = f"{filling} {KEY}"
    clean = f"{filling} know{REDACTED}"
    parts, content = (TextPart(text=text),), (CommandContent(terminal_id="t", line=KEY, cwd="/", text=text),)
    assert await cleaned(redacted_json, {"a": [text, 7]}, redactor=redactor) == {"a": [clean, 7]}
    assert await cleaned(redacted_parts, parts, redactor=redactor) == (TextPart(text=clean),)
    [picture] = await cleaned(redacted_content, content, redactor=redactor)
    assert isinstance(picture, CommandContent)
    assert (picture.line, picture.text) == (f"know{REDACTED}", clean)


@pytest.mark.parametrize("between", [b"", b"\x1b[0m", b"\0", b"\xff", b"\x1b]0;title\x07", b"\x1b[31m\x1b[1m"])
@pytest.mark.parametrize("after", [b"", b"\rover\n"], ids=["seen", "overwritten"])
def test_bytes_that_show_a_credential_however_it_is_split_are_left_out(between: bytes, after: bytes) -> None:
    key = KEY.encode()
    shown = CommandContent(
        terminal_id="t", line="", cwd="/", text="x", raw=b"\xfe" + key[:9] + between + key[9:] + after
    )
    harmless = replace(shown, raw=b"\xff\0\x1b[1mbold\x1b[0m\r\n")
    cleaned = redacted_content((shown, harmless), redactor=Redactor([KEY]))
    assert cleaned == (replace(shown, raw=None), harmless)


async def test_other_work_goes_on_while_a_long_text_is_searched() -> None:
    seen: list[str] = []

    async def search() -> None:
        await cleaned(redacted_json, {"content": "api_key" * 300_000}, redactor=Redactor())
        seen.append("searched")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(search)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        seen.append("went on")
    assert seen == ["went on", "searched"]


async def test_a_text_that_takes_too_long_is_withheld_and_short_ones_beside_it_are_not() -> None:
    value = {"path": "a.txt", "key": KEY, "content": LONG}
    assert await cleaned(redacted_json, value, redactor=Redactor([KEY]), within=0) == {
        "path": "a.txt",
        "key": f"know{REDACTED}",
        "content": WITHHELD,
    }
    part = PartContent(part=TextPart(text=LONG))
    assert await cleaned(redacted_content, (part,), redactor=Redactor(), within=0) == (
        PartContent(part=TextPart(text=WITHHELD)),
    )

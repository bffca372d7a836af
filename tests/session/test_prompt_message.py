"""A prompt's message becomes part of the conversation, and who waits for that hears it, however it goes on."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ClawError
from claw_acp.core.events import MessageStarted
from claw_acp.core.messages import TextPart
from claw_acp.session.journal import Journal
from claw_acp.session.prompt_message import publish_prompt
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from tests.support.seen import Seen

MESSAGE = MessageStarted(item="msg_1", role="user", parts=(TextPart(text="hi"),))


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncGenerator[Journal]:
    async with Journal.opened(tmp_path / "claw.db") as journal:
        yield journal


@pytest.fixture
async def session(journal: Journal, tmp_path: Path) -> Session:
    record = SessionRecord(id="s", cwd="/", mode="ask", model="m", created_at=0.0, updated_at=0.0)
    await journal.create(record)
    return Session(record, journal=journal, clock=SYSTEM_CLOCK, roots=[tmp_path])


async def test_who_waits_hears_the_id_once_the_message_was_shown(session: Session) -> None:
    seen, heard = Seen(), list[tuple[str, int]]()
    session.subscribers.append(seen)
    await publish_prompt(session, MESSAGE, on_accepted=lambda message_id: heard.append((message_id, len(seen.events))))
    assert heard == [("msg_1", 1)]


@pytest.mark.rule("v2.close-held", "v2.prompt-no-late-error")
async def test_cancelled_meanwhile_it_is_accepted_all_the_same(session: Session) -> None:
    heard: list[str] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        await publish_prompt(session, MESSAGE, on_accepted=heard.append)
    assert scope.cancelled_caught
    assert heard == ["msg_1"]
    assert [event.item for event in await session.read()] == ["msg_1"]


async def test_what_was_not_kept_is_not_accepted(session: Session, journal: Journal) -> None:
    heard: list[str] = []
    await journal.delete("s")
    with pytest.raises(ClawError):
        await publish_prompt(session, MESSAGE, on_accepted=heard.append)
    assert heard == []

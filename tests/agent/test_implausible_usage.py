"""A service may say anything of the tokens it took; the ledger stays readable, and the session usable."""

from pathlib import Path

import pytest

from claw_acp.agent.billing import MOST_TOKENS
from claw_acp.contracts.provider import ChatResponse, Finished, Spent
from claw_acp.core.messages import Message, Usage
from tests.agent.test_billing_of_fallbacks import Named, asked


@pytest.mark.parametrize(("said", "kept"), [(10**20, MOST_TOKENS), (2**62, MOST_TOKENS), (-1000, 0)])
async def test_counts_that_no_request_can_have_are_cut(tmp_path: Path, said: int, kept: int) -> None:
    usage = Usage(input_tokens=said, cached_read_tokens=said)
    provider = Named("a", Spent(model="a/one", usage=usage), Finished(response=ChatResponse(text="x", usage=usage)))
    async with asked(tmp_path, provider, model="a/one") as (one, session, journal):
        for _ in range(2):
            await one.ask([Message.user("hi")], tools=())
        assert (await journal.ledger.spent()).usage == Usage(input_tokens=4 * kept, cached_read_tokens=4 * kept)
        await session.change(title="still here")
        assert session.history.usage is not None
        assert session.history.usage.used == kept

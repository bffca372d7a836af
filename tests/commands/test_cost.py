"""`/cost`: the bill of a session."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from inline_snapshot import snapshot

from claw_acp.commands.cost import as_markdown
from claw_acp.core.messages import Usage
from claw_acp.core.money import from_dollars
from claw_acp.core.spending import Bill, Budget, Share, Spending
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Outcome
from tests.support.servers.model_replies import Say, Stall, Tokens
from tests.support.servers.priced_model import priced_model

Prompt = Callable[[str], Awaitable[Outcome]]


def spent(dollars: float | None, *, requests: int = 1) -> Spending:
    usage = Usage(input_tokens=12_000, output_tokens=340, cached_read_tokens=2_000)
    unpriced = requests if dollars is None else 0
    return Spending(requests=requests, usage=usage, cost=from_dollars(dollars or 0), unpriced=unpriced)


def test_a_bill_reads_well() -> None:
    bill = Bill(
        turn=spent(0.0042),
        models=(
            Share(key="anthropic/claude-sonnet-4-5", spending=spent(1.25, requests=31)),
            Share(key="work/qwen3", spending=spent(None, requests=2)),
        ),
        today=spent(1.25),
        month=spent(12.5) + spent(None),
        budgets=(
            Budget(name="session", limit=from_dollars(2), spent=from_dollars(1.25)),
            Budget(name="daily", limit=from_dollars(1), spent=from_dollars(1.25)),
            Budget(name="monthly", limit=0, spent=0),
        ),
    )
    assert as_markdown(bill) == snapshot("""\
This session: **at least $1.25** in 33 requests.

| Model | Requests | Input | of it cached | Output | Cost |
| --- | ---: | ---: | ---: | ---: | ---: |
| `anthropic/claude-sonnet-4-5` | 31 | 12,000 | 2,000 | 340 | $1.25 |
| `work/qwen3` | 2 | 12,000 | 2,000 | 340 | unknown |

- Last turn: $0.0042 in 1 request
- Today: $1.25
- This month: at least $12.50

Budgets:

- session: `████████████░░░░░░░░` 62 %, $1.25 of $2.00
- daily: `████████████████████` 125 %, $1.25 of $1.00
- monthly: `████████████████████` 100 %, $0.00 of $0.00

The cost of some requests to `work/qwen3` is not known.
If the price of the model is missing, set it in config.toml: `[prices."work/qwen3"]`.
Interrupted answers are billed as well, but their tokens are not reported.\
""")


def test_a_bill_of_nothing_is_short() -> None:
    nothing = Spending()
    bill = Bill(turn=nothing, models=(), today=nothing, month=nothing, budgets=())
    assert as_markdown(bill) == snapshot("""\
This session: **$0.00** in 0 requests.

- Today: $0.00
- This month: $0.00\
""")


async def test_the_command_tells_the_turn_the_session_the_day_and_the_budgets(opened: Spawn) -> None:
    async with (
        priced_model(budget="daily = 1.0", tokens=Tokens(input=800, output=1000, cache_read=200)) as (_, options),
        opened(**options) as editor,
    ):
        await editor.prompt("one")
        await editor.prompt("two")
        assert (await editor.prompt("/cost")).text == snapshot("""\
This session: **$0.0216** in 2 requests.

| Model | Requests | Input | of it cached | Output | Cost |
| --- | ---: | ---: | ---: | ---: | ---: |
| `work/gpt-5.1` | 2 | 2,000 | 400 | 2,000 | $0.0216 |

- Last turn: $0.0108 in 1 request
- Today: $0.0216
- This month: $0.0216

Budgets:

- daily: `░░░░░░░░░░░░░░░░░░░░` 2 %, $0.0216 of $1.00\
""")
        assert "in 2 requests" in (await editor.prompt("/cost")).text  # asking costs nothing


async def test_without_a_price_the_cost_is_unknown_and_how_to_set_it_is_said(opened: Spawn) -> None:
    async with priced_model(prices="") as (_, options), opened(**options) as editor:
        await editor.prompt("one")
        text = (await editor.prompt("/cost")).text
        assert "This session: **unknown** in 1 request." in text
        assert '`[prices."work/gpt-5.1"]`' in text


async def test_an_answer_that_broke_off_makes_the_cost_one_of_which_only_the_least_is_known(opened: Spawn) -> None:
    async with priced_model() as (server, options), opened(**options) as editor:
        await editor.prompt("one")
        server.will_reply(Say(text=("half ", "of it"), insert={2: Stall()}))
        prompt = await editor.start_prompt("two")
        await editor.wait_for_text("half")
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"
        text = (await editor.prompt("/cost")).text
        assert "This session: **at least $0.0110** in 2 requests." in text
        assert "Interrupted answers are billed as well" in text


async def test_a_copy_of_a_session_has_its_own_bill(opened: Spawn, project: Path) -> None:
    async with priced_model() as (_, options), opened(**options) as editor:
        await editor.prompt("one")
        found = re.search(r"`(ses_\w+)`", (await editor.prompt("/fork")).text)
        assert found is not None
        _, replayed = await editor.load(found[1])
        assert not [update for update in replayed if update.get("cost")]
        assert "in 0 requests" in (await editor.prompt("/cost", session=found[1])).text
        assert "Today: $0.0110" in (await editor.prompt("/cost", session=found[1])).text

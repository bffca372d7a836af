"""The model that writes summaries: a cheaper one where no cache holds the conversation, else the session's own."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from claw_acp.agent.compaction.summary_model import CACHED_FOR, is_cold
from claw_acp.core.events import UsageChanged
from claw_acp.core.ids import made_at, new_id
from claw_acp.core.messages import Usage
from claw_acp.providers.registry.services import SERVICES
from claw_acp.session.history import History
from tests.agent.test_deep_session import Deep
from tests.support.editors.shared_house import SharedHouse
from tests.support.fixed_clock import FixedClock
from tests.support.script_files import Script
from tests.support.servers.model_replies import ReceivedRequest, Reply, Say, Tokens, failure
from tests.support.servers.model_server import ModelServer
from tests.support.servers.narrow_model import NarrowModel

OWN, SMALL, NAMED = "gpt-3.5-turbo", "gpt-6.1-terra", "home-made"
CHEAP = f'[prices."openai/{SMALL}"]\ninput = 1\noutput = 2\n'
LONG = "the port=8472 must stay " + "and so on " * 2_000


@dataclass
class Vendor:
    """A service with several models.

    Attributes:
        caches: Whether it reports cached tokens.
        answers: What a model answers to a request for a summary instead of a valid one.
        asked: The models that were asked for a summary, in order, each with its tool choice.
    """

    caches: bool = False
    answers: dict[str, Reply] = field(default_factory=dict[str, Reply])
    asked: list[object] = field(default_factory=list[object])
    model: NarrowModel = field(default_factory=lambda: NarrowModel(window=900_000))

    def __call__(self, request: ReceivedRequest) -> Reply:
        """Answer one request."""
        before = self.model.summaries
        reply = self.model(request)
        name = str(request.json["model"])
        if self.model.summaries > before:
            self.asked.append(name if request.json.get("tool_choice", "auto") == "auto" else f"{name} without calls")
            reply = self.answers.get(name, reply)
        if self.caches and isinstance(reply, Say):
            return replace(reply, usage=Tokens(input=100, output=20, cache_read=6_000))
        return reply


@asynccontextmanager
async def session(
    project: Path, home: Path, vendor: Vendor, *, config: str = "", prices: str = CHEAP, own: str = OWN
) -> AsyncGenerator[Deep]:
    async with ModelServer() as server:
        server.always(vendor)
        address = f'base_url = "{server.openai_url}"'
        text = (
            f'{config}\n[providers.work]\nkind = "openai"\n{address}\nmodels = ["{NAMED}", "gpt-3.5-turbo"]\n'
            f'[prices."openai/{own}"]\ninput = 10\noutput = 20\n'
            f'[providers.openai]\napi_key = "sk-0123456789"\n{address}\n{prices}\n[memory]\nenabled = false'
        )
        env = {"CLAW_ACP_MODEL": f"openai/{own}"}
        async with SharedHouse.opened(project=project, home=home, script=Script(), config=text, env=env) as house:
            editor = await house.visit(session={"compaction": {}, "notices": {}})
            await editor.new_session()
            yield Deep(vendor.model, house, editor)


async def summarized(one: Deep) -> None:
    """Have a conversation summarized."""
    await one.say(LONG)
    assert (await one.say("/compact")).startswith("Summarized: ")
    assert await one.say("recall port") == "8472"


@pytest.mark.parametrize(
    ("config", "prices", "caches", "asked"),
    [
        ("", CHEAP, 0, f"{SMALL} without calls"),
        ("", CHEAP, 1, OWN),
        ('summary_model = "session"', CHEAP, 0, OWN),
        (f'summary_model = "openai/{OWN}"', CHEAP, 0, OWN),
        ("", "", 0, OWN),
        ("", CHEAP.replace("input = 1", "input = 11"), 0, OWN),
        ("", f'models = ["{OWN}"]\n{CHEAP}', 0, OWN),
        (f'summary_model = "work/{NAMED}"', CHEAP, 0, f"{NAMED} without calls"),
        (f'summary_model = "work/{NAMED}"', CHEAP, 1, OWN),
        ('summary_model = "mistral/x"', CHEAP, 0, OWN),
    ],
    ids=[
        "small",
        "cached",
        "never",
        "itself",
        "no price",
        "dearer",
        "not allowed",
        "named",
        "named, cached",
        "unusable",
    ],
)
async def test_a_cheaper_model_summarizes_what_no_cache_holds(
    config: str, prices: str, caches: int, asked: str, project: Path, home: Path
) -> None:
    vendor = Vendor(caches=bool(caches))
    async with session(project, home, vendor, config=config, prices=prices) as one:
        await summarized(one)
        assert vendor.asked == [asked]
        told = [notice["title"] for notice in one.editor.updates("notice")]
        unusable = 'The session\'s model writes the summary: summary_model = "mistral/x" cannot be used'
        assert told == ([unusable] if "mistral" in config else [])


async def test_what_another_model_took_is_billed_to_it_and_explained(project: Path, home: Path) -> None:
    async with session(project, home, Vendor()) as one:
        await summarized(one)
        bill, why = await one.say("/cost"), await one.say("/why")
        rows = re.findall(r"\| `(\S+)` \| (\d+) \| ([\d,]+) \| 0 \| (\d+) \| (\S+) \|", bill)
        assert [(model, requests) for model, requests, *_ in rows] == [(f"openai/{OWN}", "2"), (f"openai/{SMALL}", "1")]
        _, _, sent, written, cost = rows[1]
        assert float(cost.strip("$")) == pytest.approx(
            (int(sent.replace(",", "")) + 2 * int(written)) / 1e6, abs=0.0001
        )
        assert f"A summary by `openai/{SMALL}` replaced older turns." in why
        assert "summary_model" in why
        assert {usage["size"] for usage in one.editor.updates("usage_update")} == {16_385}, "the session's window"


@pytest.mark.parametrize("answer", [Say(text=("I would rather not.",)), failure(400, {"error": {"message": "no"}})])
async def test_where_the_other_model_writes_no_usable_summary_the_own_one_does(
    answer: Reply, project: Path, home: Path
) -> None:
    vendor = Vendor(answers={SMALL: answer})
    async with session(project, home, vendor) as one:
        await summarized(one)
        assert vendor.asked == [f"{SMALL} without calls", OWN]
        (notice,) = one.editor.updates("notice")
        assert notice["title"] == f"The session's model writes the summary, since openai/{SMALL} did not"
        assert "A summary replaced older turns." in await one.say("/why")


async def test_a_model_whose_window_is_too_narrow_is_not_asked(project: Path, home: Path) -> None:
    vendor = Vendor()
    async with session(project, home, vendor, config='summary_model = "work/gpt-3.5-turbo"', own="gpt-4o") as one:
        await one.say("and so on " * 6_000)
        await summarized(one)
        assert vendor.asked == ["gpt-4o"]


def test_services_with_models_of_different_sizes_have_a_small_one_of_the_same_vendor() -> None:
    small = {name: role.families for name, one in SERVICES.items() for role in one.roles if role.small}
    flash = ("glm-flash", "glm-air")
    assert small == {
        "anthropic": ("claude-haiku",),
        "openai": ("gpt-terra", "gpt-mini"),
        "openai-responses": ("gpt-terra", "gpt-mini"),
        "gemini": ("gemini-flash",),
        "deepseek": ("deepseek-flash",),
        **dict.fromkeys(("zai", "zai-coding", "glm", "glm-coding"), flash),
    }


def usage(at: float, *, read: int = 0, written: int = 0, model: str = "p/m") -> UsageChanged:
    """The report of a request at that time."""
    request = Usage(input_tokens=1_000, output_tokens=1, cached_read_tokens=read, cached_write_tokens=written)
    item = new_id("msg", clock=FixedClock(now=at))
    assert made_at(item) == at
    return UsageChanged(item=item, used=1_001, size=0, request=request, model=model)


NOW = 1_800_000_000.0
FRESH, OLD = NOW - CACHED_FOR + 1, NOW - CACHED_FOR


COLD = {
    "nothing": [],
    "no cache": [usage(FRESH)],
    "old": [usage(OLD, read=900)],
    "of another model": [usage(OLD, read=900), usage(FRESH, read=900, model="p/other")],
}
WARM = {
    "read": [usage(FRESH, read=900)],
    "written": [usage(FRESH, written=900)],
    "made anew": [usage(OLD, read=900), usage(FRESH)],
}


@pytest.mark.parametrize("case", [*COLD, *WARM])
def test_a_cache_is_cold_when_there_is_none_or_the_last_request_is_long_ago(case: str) -> None:
    history = History()
    for event in (COLD | WARM)[case]:
        history.apply(event)
    assert is_cold(history, model="p/m", now=NOW) is (case in COLD)


@pytest.mark.parametrize("text", ["", "b1", "msg_", "msg_01jd3x8v6h", "msg_" + "u" * 26])
def test_a_text_that_is_no_id_has_no_time(text: str) -> None:
    assert made_at(text) is None

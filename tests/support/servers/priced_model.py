"""A model over HTTP that has a price, and the options of an editor that uses it under budgets."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.editors.exchange import Json
from tests.support.servers.model_replies import Say, Tokens
from tests.support.servers.model_server import ModelServer

MODEL = "work/gpt-5.1"
COST = 0.011
"""Dollars that each answer costs: a thousand tokens in at 1 dollar a million, a thousand out at 10."""

_CONFIG = """
model = "work/gpt-5.1"
{budget}
[providers.work]
kind = "openai"
api_key = "sk-test-0123456789abcdef"
base_url = "{url}"
models = ["gpt-5.1"]
{prices}
"""
_PRICES = '[prices."work/*"]\ninput = 1\noutput = 10\ncached_read = 0.1\n'


@asynccontextmanager
async def priced_model(
    *, budget: str = "", prices: str = _PRICES, tokens: Tokens | None = None
) -> AsyncGenerator[tuple[ModelServer, Json]]:
    """The server, always answering `fine`, and the options for `Editor.opened`. `budget` is the table of budgets."""
    async with ModelServer() as server:
        server.always(Say(text=("fine",), usage=tokens or Tokens(input=1000, output=1000)))
        table = f"[budget]\n{budget}" if budget else ""
        config = _CONFIG.format(url=server.openai_url, budget=table, prices=prices)
        options: dict[str, Any] = {"config": config}
        yield server, options

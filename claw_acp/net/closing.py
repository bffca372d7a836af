"""Closes a stream that is left before its end."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

Item = TypeVar("Item")


@asynccontextmanager
async def closing(items: AsyncIterator[Item]) -> AsyncGenerator[AsyncIterator[Item], None]:
    """`contextlib.aclosing` for what is only promised to be an iterator: an async generator among them is closed.

    Left to the garbage collector, a generator would let go of its socket late and in a task nobody waits for.
    """
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()

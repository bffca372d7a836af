"""Closing of async iterators that are abandoned before their end."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

Item = TypeVar("Item")


@asynccontextmanager
async def closing(items: AsyncIterator[Item]) -> AsyncGenerator[AsyncIterator[Item], None]:
    """`contextlib.aclosing` for values typed as iterators: closes those that are async generators.

    Left to the garbage collector, a generator would release its socket late, in a task that nothing awaits.
    """
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()

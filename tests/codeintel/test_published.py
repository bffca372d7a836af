"""Published diagnostics: only those of the wanted version count, and none of a closed file."""

from pathlib import Path

import anyio
import pytest

from claw_acp.codeintel.published import Published
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.errors import ConnectionClosed

PATH = Path("/p/a b.c")
URIS = ("file:///p/a%20b.c", "file:///p/a b.c")


def about(version: int | None, message: str, *, uri: str = URIS[0]) -> JsonObject:
    return {"uri": uri, "diagnostics": [{"message": message}], **({} if version is None else {"version": version})}


@pytest.mark.parametrize("uri", URIS)
async def test_those_of_another_version_are_passed_over(uri: str) -> None:
    published = Published()
    async with anyio.create_task_group() as tasks:
        for params in (about(1, "old"), about(2, "new", uri=uri)):
            tasks.start_soon(published.take, params)
        assert await published.diagnostics(PATH, version=2) == [{"message": "new"}]


async def test_of_a_server_without_versions_the_last_before_a_silence_count() -> None:
    published = Published()
    await published.take(about(None, "first"))
    await published.take(about(None, "last"))
    assert await published.diagnostics(PATH, version=7) == [{"message": "last"}]


async def test_a_server_with_versions_clears_closed_files_without_one_and_that_is_no_answer() -> None:
    published = Published()
    await published.take(about(1, "first"))
    published.expect(PATH)
    await published.take(about(None, "closed"))
    await published.take(about(2, "second"))
    await published.take(about(None, "closed"))
    assert await published.diagnostics(PATH, version=2) == [{"message": "second"}]


async def test_whoever_waits_learns_that_nothing_will_come() -> None:
    published = Published()
    published.close()
    with pytest.raises(ConnectionClosed):
        await published.diagnostics(PATH, version=1)

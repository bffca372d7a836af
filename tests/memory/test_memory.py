"""What every backend of memories does."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.memory import EVERYTHING, Memory, MemoryFilter, SearchMode
from claw_acp.core.errors import StoreError
from claw_acp.memory.normalizing import MOST_CONTENT
from claw_acp.memory.search_words import query_words
from claw_acp.memory.sqlite_backend import opened
from tests.memory.support import TestClock, setup_of

DAY = 86_400.0
TEXT = (
    st.text(st.characters(codec="utf-8"), max_size=40)
    | st.text(st.sampled_from("abAB_019 \"'*^:(){}[]-+.,\\\0éß東京の"), max_size=30)
    | st.text(st.characters(), max_size=10)
)


async def contents(memory: Memory, query: str, *namespaces: str) -> list[str]:
    found = await memory.recall_namespaced(query, namespaces=namespaces) if namespaces else await memory.recall(query)
    return [entry.content for entry in found]


async def test_what_was_stored_is_recalled_and_can_be_forgotten(memory: Memory) -> None:
    stored = await memory.store("deploy", "Deploys run with `make ship` on Fridays.", session_id="ses_1")
    await memory.store("lint", "The linter is ruff.")
    assert await memory.get(stored.id) == stored
    assert [entry.id for entry in await memory.recall("how do we deploy?")] == [stored.id]
    assert await memory.forget(stored.id)
    assert not await memory.forget(stored.id)
    assert await contents(memory, "how do we deploy?") == []
    assert await memory.count() == 1
    assert await memory.health_check() == ()


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("The café opens at nine.", "when does the CAFE open"),
        ("Der Löffel liegt in der Straße.", "strasse"),
        ("deployServer reads HTTP_PROXY_URL", "what reads the proxy"),
        ("deployServer reads HTTP_PROXY_URL", "who is the server"),
        ("東京タワーは高い", "タワー"),
        ("项目使用蓝绿部署", "部署"),
        ("Certificates are renewed by lego.", "certif"),
        ("The owner is O'Brien; call him.", "o'brien"),
        ('A "quoted" NEAR(word AND other) entry* OR -none', 'NEAR("quoted" word) AND other* OR -none ^x {y}: z"'),
    ],
)
async def test_a_query_is_words_of_a_person_and_no_syntax(memory: Memory, content: str, query: str) -> None:
    await memory.store("one", content)
    await memory.store("two", "Nothing of the kind.")
    assert (await contents(memory, query))[:1] == [content]


@pytest.mark.parametrize("query", ["", "?!", '"', "*", "the", "\x00", "\ud800", "a" * 100_000, "x " * 50_000])
async def test_any_query_gets_an_answer(memory: Memory, query: str) -> None:
    await memory.store("one", "The linter is ruff.")
    assert len(await memory.recall(query)) <= 1


async def test_a_newer_entry_supersedes_the_older_one_of_its_key_which_stays_to_be_seen(memory: Memory) -> None:
    old = await memory.store("port", "Staging listens on 8080.")
    new = await memory.store("port", "Staging listens on 9090.")
    again = await memory.store("port", "staging listens on 9090")
    assert again == new
    assert await contents(memory, "which port does staging listen on") == [new.content]
    kept = await memory.get(old.id)
    assert kept is not None
    assert kept.superseded_by == new.id
    assert await memory.count() == 1
    assert await memory.count(EVERYTHING) == 2


async def test_almost_the_same_text_supersedes_but_another_subject_does_not(memory: Memory) -> None:
    await memory.store("a", "The staging server runs on port 8080")
    await memory.store("b", "The staging server runs on port 9090")
    await memory.store("c", "The production server runs on port 9090")
    await memory.store("d", "In round 1 the outage ended with decision 1 of that round")
    await memory.store("e", "In round 1 the audit ended with decision 1 of that round")
    found = {entry.key for entry in await memory.list()}
    assert found == {"b", "c", "d", "e"}


async def test_namespaces_keep_projects_apart(memory: Memory) -> None:
    for namespace in ("project:/a", "project:/b"):
        await memory.store_with_metadata("deploy", f"Deploys go to {namespace[-1]}.", namespace=namespace)
    await memory.store_with_metadata("tone", "Deploys are announced in chat.", namespace="user")
    assert set(await contents(memory, "deploys", "project:/a", "user")) == {
        "Deploys go to a.", "Deploys are announced in chat.",
    }  # fmt: skip
    assert await memory.recall_namespaced("deploys", namespaces=[]) == ()
    assert await memory.purge_namespace("project:/a") == 1
    assert await contents(memory, "deploys", "project:/a") == []
    assert await contents(memory, "deploys", "project:/b") == ["Deploys go to b."]


async def test_what_is_not_core_fades_and_core_does_not(memory: Memory, clock: TestClock) -> None:
    await memory.store("d1", "Release 1 was cut by Ann.", category="daily")
    await memory.store("c1", "Releases are cut from main.")
    clock.seconds += 60 * DAY
    await memory.store("d2", "Release 2 was cut by Bob yesterday evening.", category="daily")
    keys = [entry.key for entry in await memory.recall("release cut")]
    assert keys == ["c1", "d2", "d1"]


async def test_a_recall_is_narrowed_by_time_and_session(memory: Memory, clock: TestClock) -> None:
    await memory.store("one", "Tests run with pytest.", session_id="ses_1")
    clock.seconds += DAY
    await memory.store("two", "Slow tests run at night.", session_id="ses_2")
    assert [entry.key for entry in await memory.recall("tests", since=clock.seconds)] == ["two"]
    assert [entry.key for entry in await memory.recall("tests", until=clock.seconds - 1)] == ["one"]
    assert [entry.key for entry in await memory.recall("tests", session_id="ses_1")] == ["one"]
    assert [entry.key for entry in await memory.list(MemoryFilter(session_id="ses_2"))] == ["two"]
    assert await memory.purge_session("ses_1") == 1
    assert await memory.count() == 1


async def test_the_most_important_core_entries_come_first(memory: Memory) -> None:
    for key, importance in (("low", 0.1), ("high", 0.95), ("usual", None)):
        await memory.store_with_metadata(key, f"{key} entry", namespace="user", importance=importance)
    await memory.store_with_metadata("daily", "today", namespace="user", category="daily")
    assert [entry.key for entry in await memory.top_core_memories(namespaces=["user"], limit=2)] == ["high", "usual"]


async def test_credentials_are_not_kept(memory: Memory) -> None:
    stored = await memory.store("key", "The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a.")
    assert "292c6912" not in stored.content
    assert stored == await memory.get(stored.id)


@pytest.mark.parametrize(("key", "content"), [("", "text"), ("key", " \n "), ("key", "x" * (MOST_CONTENT + 1))])
async def test_an_entry_that_says_nothing_or_too_much_is_refused(memory: Memory, key: str, content: str) -> None:
    with pytest.raises(StoreError, match="memory"):
        await memory.store(key, content)


async def test_an_export_restores_the_same_entries_once(memory: Memory) -> None:
    await memory.store("port", "Staging listens on 8080.")
    await memory.store("port", "Staging listens on 9090.\n\n  - and on 9091", source="person")
    exported = await memory.export()
    assert len(exported) == 2
    assert await memory.restore(exported) == 0
    for entry in exported:
        await memory.forget(entry.id)
    assert await memory.restore(exported) == 2
    assert await memory.export() == exported
    assert await memory.reindex() == 2
    assert len(await memory.recall("staging")) == 1


@given(texts=st.lists(TEXT, min_size=1, max_size=4), query=TEXT, mode=st.sampled_from(["hybrid", "bm25", "embedding"]))
def test_any_text_is_stored_and_found_by_each_of_its_words_and_any_query_has_an_answer(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], query: str, mode: SearchMode
) -> None:
    async def search() -> None:
        async with opened(setup_of(tmp_path_factory.mktemp("store"))) as memory:
            for number, text in enumerate(texts):
                entry = await memory.store(f"k{number}", f"x {text}")
                for word in query_words(entry.content)[:3]:
                    assert entry.content in await contents(memory, word)
            await memory.recall(query, mode=mode)

    anyio.run(search)

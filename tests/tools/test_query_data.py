"""Queries about files of data."""

from pathlib import Path

import pytest

from claw_acp.core.errors import ToolError
from claw_acp.tools.data.query import QueryData
from tests.support.tool_bench import Bench, EditorWorkspace

query_data = QueryData()
FILES = {
    "a.json": '\ufeff{"items": [{"name": "x", "n": 1}, {"name": "ü", "n": 20}], "a/b": {"~": null}}',
    "a.jsonl": '{"n": 1}\n\n{"n": 2}\n',
    "a.yaml": "first: &one [1, 2026-01-31]\nsecond: *one\n",
    "many.yml": "a: 1\n---\na: 2\n",
    "a.toml": 'name = "claw"\nday = 2026-01-31\n',
    "data": "[1, [2, 3]]",
    "broken.json": '{"a": 1,}',
    "broken.yaml": "a: [1\nb: }",
    "object.yaml": "!!python/object/apply:os.system ['touch owned']",
    "laughs.yaml": "a: &a [1,1,1,1,1,1,1,1,1]\n"
    + "".join(f"{c}: &{c} [{','.join([f'*{p}'] * 9)}]\n" for p, c in zip("abcdefghijk", "bcdefghijkl", strict=True)),
}


@pytest.mark.parametrize(
    ("path", "query", "answer"),
    [
        ("a.json", "items[?n > `5`].name | [0]", '"ü"'),
        ("a.json", "/a~1b/~0", "null"),
        ("a.jsonl", "[].n", "[\n 1,\n 2\n]"),
        ("a.yaml", "/second/1", '"2026-01-31"'),
        ("many.yml", "[1].a", "2"),
        ("a.toml", "day", '"2026-01-31"'),
        ("laughs.yaml", "length(l)", "9"),
    ],
)
async def test_a_query_is_answered_as_json(bench: Bench, root: Path, path: str, query: str, answer: str) -> None:
    (root / path).write_text(FILES[path], "utf-8")
    assert await bench.text(query_data, path=path, query=query) == answer


@pytest.mark.parametrize(
    ("path", "query", "reason"),
    [
        ("a.json", "items[", "the query cannot be answered: "),
        ("a.json", "unknown(@)", "the query cannot be answered: Unknown function"),
        ("a.json", "/items/2", r"there is no '2' at this place of '/items/2'; it holds a list of 2"),
        ("a.json", "/x", "it holds an object with items, a/b"),
        ("a.json", "'xxxxxxxx'" + "|join('',[@,@])" * 60, "it needs too much memory"),
        ("broken.json", "@", "the data is not JSON: .*line 1 column 9"),
        ("broken.yaml", "@", "the data is not YAML: .*line 2"),
        ("object.yaml", "@", "could not determine a constructor"),
        ("data", "@", "does not say what it holds. Set `format`"),
        ("missing.json", "@", "missing.json does not exist"),
    ],
)
async def test_what_cannot_be_answered_is_refused_with_the_reason(
    bench: Bench, root: Path, path: str, query: str, reason: str
) -> None:
    if path in FILES:
        (root / path).write_text(FILES[path], "utf-8")
    with pytest.raises(ToolError, match=reason):
        await bench.call(query_data, path=path, query=query)
    assert not (root / "owned").exists()


async def test_an_answer_is_bounded(bench: Bench, root: Path) -> None:
    (root / "laughs.yaml").write_text(FILES["laughs.yaml"])
    text = await bench.text(query_data, path="laughs.yaml", query="@")
    assert len(text) < 500_000
    assert text.endswith("[The result is longer; ask for less of it.]")


async def test_unsaved_text_is_asked_and_the_format_may_be_given(root: Path) -> None:
    editor = EditorWorkspace(root)
    editor.buffers[root / "data"] = FILES["data"]
    assert await Bench(editor).text(query_data, path="data", query="[1][0]", format="json") == "2"

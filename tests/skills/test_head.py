"""Heads of skills, as people write them."""

import sys

import pytest

from claw_acp.skills.head import BadHead, split_skill


def head(*lines: str) -> dict[str, object]:
    entries, body = split_skill("\n".join(["---", *lines, "---", "", "Do it.", ""]))
    assert body == "Do it."
    return dict(entries)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("description: Fix it", "Fix it"),
        ("description: Use when: asked", "Use when: asked"),
        ("description: 'Use when: asked'", "Use when: asked"),
        ('description: "Say \\"hi\\""', 'Say "hi"'),
        ("description: [issue] then more", "[issue] then more"),
        ("description: @docs first", "@docs first"),
        ("description: see http://a.example/#x", "see http://a.example/#x"),
        ("description: C# code # a remark", "C# code"),
        ("description: >-\n  two\n  lines", "two lines"),
        ("description: [", "["),
        ("description: !!python/object/apply:os.system [id]", ["id"]),
        ("description: true", "true"),
        ("description: 12", "12"),
        ("description: 0" + "7" * 5_000, "0" + "7" * 5_000),
        ("description: 1" + ":59" * 2_000, "1" + ":59" * 2_000),
        ("description: 2024-13-45", "2024-13-45"),
        ("description: [a, b]", ["a", "b"]),
        ('description: {"claw": {"requires": {"bins": ["gh"]}}}', {"claw": {"requires": {"bins": ["gh"]}}}),
        ("description:\n  claw:\n    always: yes", {"claw": {"always": "yes"}}),
    ],
)
def test_an_entry_is_read_as_it_was_meant(line: str, value: object) -> None:
    assert head("name: fix", line) == {"name": "fix", "description": value}


@pytest.mark.parametrize("merge", ["{{<<: [{}]}}", "\n  ? <<\n  : [{}]", "\n  !!merge k: [{}]", "\n  <<: [{}]", "[{}]"])
def test_a_head_does_not_grow_by_what_it_names_again_and_again(merge: str) -> None:
    doubled = (f"k{n}: &k{n} {merge.format(', '.join([f'*k{n - 1}'] * 12))}" for n in range(1, 40))
    assert len(head("name: fix", "k0: &k0 {x: 1}", *doubled)) == 41


@pytest.mark.parametrize("empty", ["tools:", "tools: ~", 'tools: ""', "tools: null"])
def test_an_entry_without_a_value_is_as_good_as_none(empty: str) -> None:
    assert head("name: fix", empty) == {"name": "fix"}


@pytest.mark.parametrize(
    "text",
    [
        "Do it.", "", "---\nname: x\n", "---\n- a\nb: c\n---\nx", "---\na: b\n c: d\n---\nx",
        "---\n" + "- " * 4_000 + "\n---\nx", "---\na: " + "[" * 8_000 + "\n---\nx",
        "---\nx: " + "y" * 20_000 + ":\n---\n",
    ],
)  # fmt: skip
def test_what_is_no_head_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(BadHead) as refused:
        split_skill(text)
    assert len(str(refused.value)) < 300


def test_heads_of_plain_lines_need_no_parser_of_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.setitem(sys.modules, "frontmatter", None)
    assert head("name: fix-it", 'argument-hint: "[what]"', "license: MIT")["argument-hint"] == "[what]"

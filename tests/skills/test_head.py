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
        ("description: !!python/object/apply:os.system [id]", "!!python/object/apply:os.system [id]"),
        ("description: true", True),
        ("description: 12", 12),
        ("description: [a, b]", ["a", "b"]),
        ('description: {"claw": {"requires": {"bins": ["gh"]}}}', {"claw": {"requires": {"bins": ["gh"]}}}),
        ("description:\n  claw:\n    always: yes", {"claw": {"always": True}}),
    ],
)
def test_an_entry_is_read_as_it_was_meant(line: str, value: object) -> None:
    assert head("name: fix", line) == {"name": "fix", "description": value}


@pytest.mark.parametrize(
    "text",
    [
        "Do it.", "", "---\nname: x\n", "---\n- a\nb: c\n---\nx", "---\na: b\n c: d\n---\nx",
        "---\n" + "- " * 4_000 + "\n---\nx", "---\na: " + "[" * 8_000 + "\n---\nx",
        "---\nx: " + "y" * 20_000 + ":\n---\n",
        "---\na: &a {k: 1}\nb: &b\n  <<: [*a, *a]\n---\nx",
        "---\na: 2024-13-45\n---\nx",
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

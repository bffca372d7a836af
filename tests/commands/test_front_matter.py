import pytest

from claw_acp.commands.front_matter import BadHead, split_document


def test_a_text_without_a_head_is_all_body() -> None:
    assert split_document("Do it.\n---\nNow.") == ({}, "Do it.\n---\nNow.")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("description: Fix an issue", "Fix an issue"),
        ("description: Fix: the bug", "Fix: the bug"),
        ('description: "Fix: it"', "Fix: it"),
        ("description: 'Fix'", "Fix"),
        ("description:   spaced   ", "spaced"),
        ("description:", ""),
        ("description: [issue] [priority]", "[issue] [priority]"),
        ("description: # no comment", "# no comment"),
        ("description: it's", "it's"),
        ('description: "', '"'),
        ("description: >\n  folded\n  text", "folded text"),
        ("description: |-\n  kept\n\n  text", "kept text"),
        ("description:\n- one\n- two", "- one - two"),
    ],
)
def test_values_are_read_as_people_write_them(line: str, value: str) -> None:
    document = split_document(f"---\n# a comment\n\nallowed-tools: Bash(git *)\n{line}\n---\nbody\n")
    assert document.head == {"allowed-tools": "Bash(git *)", "description": value}
    assert document.body == "body\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\ndescription: x\n", "has no closing line"),
        ("---", "has no closing line"),
        ("---\ndescription: x\nsomething else\n---\nbody", "line 3 is not of the form"),
        ("---\n  indented\n---\nbody", "line 2 is indented without an entry above it"),
        ("---\nkey:value\n---\nbody", "line 2 is not of the form"),
    ],
)
def test_a_broken_head_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(BadHead, match=why):
        split_document(text)

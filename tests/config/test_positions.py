"""Lines of keys."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from claw_acp.config.positions import find_positions

TRICKY = '''\
# [not.a.table]
top = 1
text = """
[nor.this]
still = "text" """
literal = \'\'\'
it''s = 3\'\'\'
"quoted = key" = "a # b [c"
list = [
  "x", # ]
  ["y"],
]
after.dots . "in key" = {
inline = 1 } # fine in a newer TOML; see below
'''


def test_keys_are_found_past_strings_comments_and_arrays() -> None:
    text = TRICKY.replace("{\ninline = 1 }", "{ inline = 1 }") + "[a.'b.c']\nd = '''\n'''\n[[rows]]\ne = 2\n"
    tomllib.loads(text)
    positions = find_positions(text)
    assert [
        positions.line_of(path)
        for path in [
            ("top",),
            ("text",),
            ("literal",),
            ("quoted = key",),
            ("list",),
            ("after", "dots", "in key", "inline"),
            ("a", "b.c"),
            ("a", "b.c", "d"),
            ("rows", "e"),
        ]
    ] == [2, 3, 6, 8, 9, 13, 14, 15, 18]


def test_a_key_that_is_not_there_has_the_line_of_its_table() -> None:
    positions = find_positions("\n[limits]\nx = 1\n")
    assert positions.line_of(("limits", "y")) == 2
    assert positions.line_of(("other",)) is None


@given(st.lists(st.sampled_from(["1", '"""\n\n"""', "'#'", '"["', "[\n1,\n]", "'''\n''''", '"\\""']), max_size=9))
def test_every_statement_of_a_valid_file_has_its_own_line(values: list[str]) -> None:
    text = "".join(f"k{index} = {value} # [x\n" for index, value in enumerate(values))
    tomllib.loads(text)
    positions = find_positions(text)
    for index in range(len(values)):
        line = positions.line_of((f"k{index}",))
        assert line is not None
        assert text.split("\n")[line - 1].startswith(f"k{index} =")

from contextlib import suppress
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import InvalidArguments
from claw_acp.tools.search.glob_pattern import matcher, split_literal


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        ("**/*.py", ["a.py", "b/c/a.py"], ["a.pyc"]),
        ("src/**", ["src/a", "src/b/c"], ["src", "x"]),
        ("*.{ts,tsx}", ["a.ts", "a.tsx"], ["a.t"]),
        ("{a/b,c}/x", ["a/b/x", "c/x"], ["a/x"]),
        ("{a,{b,c}d}", ["a", "bd", "cd"], ["b", "ad"]),
        ("[!a]?.c", ["bb.c"], ["ab.c", "b/.c"]),
        ("a**b", ["ab", "axb"], ["a/b"]),
        ("**/**/x/**/y", ["x/y", "q/x/w/y"], ["y"]),
        ("*{abc,a}*bc", ["abc"], ["ab"]),
        ("./a", ["a"], ["b"]),
        ("[x", ["[x"], ["x"]),
    ],
)
def test_a_pattern_fits_these_and_not_the_others(pattern: str, fits: list[str], others: list[str]) -> None:
    test = matcher(pattern)
    assert [path for path in [*fits, *others] if test(path)] == fits


@given(pattern=st.text(alphabet="ab*?", min_size=1, max_size=12), name=st.text(alphabet="abc", max_size=12))
def test_within_a_name_it_is_what_shells_do(pattern: str, name: str) -> None:
    if set(pattern) != {"*"} or len(pattern) != 2:  # alone, two stars cross directories
        assert matcher(pattern)(name) == fnmatchcase(name, pattern) or not name


@given(pattern=st.text(max_size=30), path=st.text(max_size=30))
def test_any_text_is_a_pattern_or_refused_in_words(pattern: str, path: str) -> None:
    with suppress(InvalidArguments):  # any other error fails the test
        matcher(pattern)(path)


@pytest.mark.parametrize("pattern", ["a{b", "a}b", "{{a,b}", "[z-a]", "**/x/" * 5, "{a,b}" * 7, "x" * 501])
def test_a_pattern_that_makes_no_sense_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArguments):
        matcher(pattern)


def test_many_stars_on_a_long_name_take_no_time() -> None:
    assert not matcher("*a*a*a*a*a*a*a*a*b")("a" * 255)


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("src/a/**/*.py", ("src/a", "**/*.py")),
        ("*.py", ("", "*.py")),
        ("/etc/x*", ("/etc", "x*")),
        ("/*", ("/", "*")),
        ("../a/b", ("../a", "b")),
    ],
)
def test_the_plain_beginning_is_split_off(pattern: str, parts: tuple[str, str]) -> None:
    assert split_literal(pattern) == parts

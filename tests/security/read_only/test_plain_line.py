"""The plain language of command lines: what is in it, and that another parser names the same commands."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.security.read_only.plain_line import read_line
from claw_acp.security.shell_syntax import parse

PLAIN: dict[str, Sequence[Sequence[str | None]]] = {
    "ls -la | wc -l": [["ls", "-la"], ["wc", "-l"]],
    "a && b || c; d\ne": [["a"], ["b"], ["c"], ["d"], ["e"]],
    """echo 'a b' "c d" e\\ f 'it''s' "\\"$" """: [["echo", "a b", "c d", "e f", "its", '"$']],
    "ls {src,tests}/*.py x{1..3}": [["ls", "src/*.py", "tests/*.py", "x1", "x2", "x3"]],
    'for f in a b; do wc -l "$f"; done': [["wc", "-l", "a"], ["wc", "-l", "b"]],
    "for d in a b; do for f in x y; do cat $d/$f; done; done": [
        ["cat", "a/x"],
        ["cat", "a/y"],
        ["cat", "b/x"],
        ["cat", "b/y"],
    ],
    'echo "$(git rev-parse HEAD | cut -c1-7)" x': [
        ["echo", None, "x"],
        ["git", "rev-parse", "HEAD"],
        ["cut", "-c1-7"],
    ],
    'echo "$x" $? $((1 + 2))': [["echo", None, None, None]],
    "cat ~/a $HOME/b": [["cat", "~/a", "~/b"]],
    "ls 2>&1 >/dev/null < in # a comment": [["ls"]],
    "git log \\\n  --oneline": [["git", "log", "--oneline"]],
    "cat <<'END' | wc\n$(touch x) `y`\nEND\nls": [["cat"], ["wc"], ["ls"]],
    "git show HEAD~1 HEAD@{1} x{}y": [["git", "show", "HEAD~1", "HEAD@{1}", "x{}y"]],
    "LC_ALL=C sort x": [["sort", "x"]],
    "": [],
    " # nothing": [],
}
BEYOND = [
    "ls\n\\\ntouch x",
    "ls #\n\\\ntouch x",
    "[ a &touch x&= b ]",
    "[[ x =~ (`make`) ]]",
    "case x in y) ls;; esac",
    "cat <<E\n${x:-`make`}\nE",
    "cat <<-'E'\n\tx\n\tE",
    'x="${y:-`make`}"',
    "x=1; ls",
    "x=${y#{};make;:}",
    "y=$((x))",
    "echo $((x))",
    "echo ${x@P}",
    "echo `ls`",
    "for PATH in d; do ls; done",
    "for f in *; do cat $f; done",  # a name may be several words
    "f() { ls; }; f",
    ":(){ :|:& };:",
    "sleep 1 &",
    "ls |& cat",
    "ls &> x",
    "(ls)",
    "{ ls; }",
    "! ls",
    "$x ls",
    "ls > $x",
    "ls > *.txt",
    "ls <(cat x)",
    "cat <<< x",
    "cat x[ab]",
    "cat .*/x",
    "cat $'x'",
    'cat $"x"',
    "cat '~/x'",
    "echo $1 $@ $!",
    "echo $API_TOKEN",
    "ls >&2x",
    "ls >&1.txt",
    "ls ;; ls",
    "ls | ",
    "&& ls",
    "ls 'x",
    "ls \x1b[1m",
    "ls\u00a0-la",
    "echo a\r\nls",
    "cat ~+/x",
    "for f in a; do cd $f; done && ls &",
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_is_read_into_the_words_that_run(line: str) -> None:
    read = read_line(line)
    assert read is not None
    assert [list(plain.command.argv) for plain in read.commands] == [list(words) for words in PLAIN[line]]


@pytest.mark.parametrize("line", PLAIN)
def test_the_general_parser_names_the_same_commands_of_a_plain_line(line: str) -> None:
    read, parsed = read_line(line), parse(line)
    assert read is not None
    assert not parsed.misread
    assert read.agrees_with(parsed.written)


@pytest.mark.parametrize("line", BEYOND)
def test_what_bash_may_read_in_another_way_is_not_plain(line: str) -> None:
    assert read_line(line) is None


@given(st.text(alphabet="ab $'\"\\\n;|&<>(){}[]*?~#=!-`@:x/1,.", max_size=24))
def test_any_text_is_read_or_refused(line: str) -> None:
    read = read_line(line)
    assert read is None or all(plain.command.argv for plain in read.commands)


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5))
def test_single_quotes_keep_every_word_as_it_is(words: list[str]) -> None:
    line = "echo " + " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    read = read_line(line)
    if read is not None:  # control characters and unusual blanks are refused, as is a tilde that shells may expand
        assert list(read.commands[0].command.argv[1:]) == words

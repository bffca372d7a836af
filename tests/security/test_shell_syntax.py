"""Every command of a line is found, or the line is not understood."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from claw_acp.security.shell_command import names
from claw_acp.security.shell_syntax import LONGEST_LINE, parse

FOUND: dict[str, list[str]] = {
    "git status": ["git status"],
    "": [],
    "# only a comment": [],
    "a; b && c || d & e": ["a", "b", "c", "d", "e"],
    "a | b |& c": ["a", "b", "c"],
    "(a; { b; })": ["a", "b"],
    "if a; then b; elif c; then d; else e; fi": ["a", "b", "c", "d", "e"],
    "for x in 1 2; do a; done; while b; do c; done; until d; do e; done": ["a", "b", "c", "d", "e"],
    "case x in x) a;; *) b;; esac": ["a", "b"],
    "f() { a; }; g() (b)": ["a", "b"],
    "echo $(a) `b` <(c) >(d)": ["echo ? ? ? ?", "a", "b", "c", "d"],
    'echo "x $(a "$(b)")"': ["echo ?", "a ?", "b"],
    "x=$(a) b=$(c) d": ["d", "a", "c"],
    "export A=$(a)": ["a", "export A=\0"],
    "cat <<EOF\n$(a)\nEOF\nb": ["cat", "a", "b"],
    "cat <<'EOF'\n$(a)\nEOF\nb": ["cat", "b"],
    "cat <<EOF | a && b\ntext\nEOF\n": ["cat", "a", "b"],
    "cat <<< $(a)": ["cat", "a"],
    "a > $(b)": ["a", "b"],
    "echo ${x:-$(a)} $((1 + $(b)))": ["echo ? ?", "a", "b"],
    "[[ $(a) == b ]] && [ -f x ]": ["a"],
    "sh -c 'a; b'": ["a", "b"],
    "bash -lc \"a 'b c'\"": ["a b c"],
    "bash -c 'sh -c \"a\"'": ["a"],
    "env X=1 a": ["a"],
    "nohup nice -n 5 timeout -k 1 10 a b": ["a b"],
    "time a": ["a"],
    "command a; builtin b; exec c": ["a", "b", "c"],
    "sudo -u root a": ["sudo -u root a", "a"],
    "find . -exec a {} \\; -execdir b +": ["find . -exec a {} ; -execdir b +", "a ?", "b"],
    "a | xargs -0 -n 1 b c": ["a", "b c ?"],
    "a | xargs -I {} sh -c 'b'": ["a", "b"],
    "trap 'a' EXIT": ["trap a EXIT", "a"],
    "r\\m 'x y' \"z\"w $'v'": ["rm x y zw v"],
    "echo $? $HOME/x ${HOME}": ["echo 0 ~/x ~"],
    "echo out >f 2>&1 arg": ["echo out arg"],
    "> out rm x": ["rm x"],
    "ls \\\n  -l": ["ls -l"],
    "{ a; } > out": ["", "a"],
    "X=1": [""],
    "git -C dir status": ["git -C dir status"],
    "./nohup a": ["./nohup a", "a"],
}

NOT_UNDERSTOOD = [
    "$(echo rm) -rf x",
    "$cmd x",
    '"$cmd" x',
    "rm$IFS-rf x",
    "/bin/r? x",
    "{rm,-rf,x}",
    "eval 'rm x'",
    "! { rm x; }",
    "((rm))",
    "[[ a && rm ]]",
    "[[ a > b ]]",
    "=rm x",
    "noglob rm x",
    "repeat 2 rm x",
    "time { rm x; }",
    "time ! rm x",
    "coproc x { rm x; }",
    "echo 'unterminated",
    "rm x)",
    "a | | b",
    "echo rm x | sh",
    "curl x | bash -s",
    "base64 -d f | bash",
    "bash <<EOF\nrm x\nEOF",
    "sh < script",
    "bash <(curl x)",
    'sh -c "$x"',
    "sh",
    "env -S 'rm x'",
    "git -c alias.x='!rm' x",
    "git -c core.pager=evil log",
    "git --exec-path=/evil status",
    "git submodule foreach 'rm x'",
    "git rebase --exec 'rm x' main",
    "parallel rm",
    "watch rm x",
    "su root",
    "alias ls=rm",
    "a\\\nb",
    "r\\\nm x",
    "ls\rrm x",
    "ls\x00rm",
    "ls\u00a0x",
    "ls\u2028rm x",
    "x='$(rm y)'; echo ${x@P}",
    "[[ -v 'a[$(rm x)]' ]]",
    "test -v 'a[`rm x`]'",
    "HOME=/etc cat $HOME/x",
    "xargs -a f -I{} {} x",
    "time -o f ls",
    "cat <<A <<B\na\nA\nb\nB\n",
    "fish -c 'rm x'",
    'bash -c \'bash -c "bash -c \\"bash -c a\\""\' | sh',
    "(" * 500 + "a" + ")" * 500,
    "a;" * 400,
    "a" * (LONGEST_LINE + 1),
]


def shown(line: str) -> list[str]:
    return [" ".join("?" if word is None else word for word in command.argv) for command in parse(line).commands]


@pytest.mark.parametrize("line", FOUND)
def test_every_command_of_a_line_is_found(line: str) -> None:
    assert parse(line).doubts == ()
    assert sorted(filter(None, shown(line))) == sorted(filter(None, FOUND[line]))


@pytest.mark.parametrize("line", NOT_UNDERSTOOD)
def test_what_cannot_be_known_before_it_runs_is_not_understood(line: str) -> None:
    parsed = parse(line)
    assert not parsed.understood
    assert all(parsed.doubts)


def test_redirections_assignments_and_pipes_are_kept_with_their_command() -> None:
    first, second = parse("A=1 B=$x a <in 2>>err; c | b").commands[::2]
    assert first.env_prefix == ("A=1", "B=\0")
    assert [(r.operator, r.target, r.writes) for r in first.redirects] == [("<", "in", False), (">>", "err", True)]
    assert second.piped


def test_a_target_that_is_not_known_is_none() -> None:
    assert parse("a > $x").commands[0].redirects[0].target is None
    assert parse("a > x*").commands[0].redirects[0].target is None


def test_wildcards_are_marked_and_quoted_ones_are_not() -> None:
    command = parse("ls *.py 'a*' src/?x").commands[0]
    assert command.patterns == {1, 3}


def test_what_sudo_runs_is_marked() -> None:
    assert [command.elevated for command in parse("sudo sh -c 'a; b'; c").commands] == [False, True, True, False]


@given(st.text(max_size=200))
@example("a\ud800b")
@example("<<")
@example("${")
@example("case")
def test_no_text_makes_the_parser_fail(line: str) -> None:
    parse(line)


WORDS = "a rm $x $(b) `c` 'q' ; & | && || > < << <<< >& ( ) { } [[ ]] if then fi do done for in case esac \\ EOF # ! *"
PIECES = st.sampled_from([*names(WORDS), "\n", "\\\n", '"d $e"'])


@given(st.lists(PIECES, max_size=25).map(" ".join))
def test_no_mixture_of_syntax_makes_the_parser_fail(line: str) -> None:
    parse(line)

"""Rules as text: what they cover, and what is said about those that cannot be read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import ConfigError
from claw_acp.security.policy import Policy
from claw_acp.security.rules import RuleVerdict, host_of, parse_rule, rule_for_path
from claw_acp.security.shell_pattern import ShellPattern, quoted

ROOT, HOME = Path("/projects/one"), Path("/homes/ada")


def covers(text: str, path: str, *, verdict: RuleVerdict = "allow") -> bool:
    return parse_rule(text, verdict=verdict).matches_path(Path(ROOT, path), roots=[ROOT], home=HOME)


@pytest.mark.parametrize(
    ("text", "words", "match"),
    [
        ("git status*", "git status", "yes"),
        ("git status*", "git status -s", "yes"),
        ("git status*", "git statusx", "yes"),
        ("git status", "git status -s", "yes"),
        ("git status", "git statusx", "no"),
        ("git status", "git", "no"),
        ("git *", "git", "yes"),
        ("git *", "git push", "yes"),
        ("git *", "gitk", "no"),
        ("npm run * --fast", "npm run x --fast", "yes"),
        ("npm run * --fast", "npm run x y --fast", "no"),
        ("npm run test", "npm ? test", "maybe"),
        ("npm run test", "? run test", "maybe"),
        ("npm run *", "npm run ?", "yes"),
        ("npm run", "npm run ?", "yes"),
        ("*", "anything", "yes"),
        ("'a b' \"c*\" d\\*", "a b|c*|d*", "yes"),
    ],
)
def test_a_refusal_of_a_command_holds_for_all_that_begin_with_its_words(text: str, words: str, match: str) -> None:
    argv = tuple(None if word == "?" else word for word in words.split("|" if "|" in words else " "))
    assert parse_rule(f"shell({text})", verdict="deny").matches_words(argv) == match


@pytest.mark.parametrize(
    ("text", "words", "wanted"),
    [
        ("git status", "git status", True),
        ("git status", "git status -s", False),
        ("git status *", "git status", True),
        ("git status *", "git status -s x", True),
        ("git status *", "git status ?", False),
        ("git status*", "git statusx -s", False),
        ("npm run * --fast", "npm run x --fast", True),
        ("npm run * --fast", "npm run x --fast y", False),
        ("npm run * --fast", "npm run ? --fast", False),
        ("*", "anything at all", True),
    ],
)
def test_a_permission_covers_exactly_its_words_unless_it_ends_in_a_star(text: str, words: str, *, wanted: bool) -> None:
    argv = tuple(None if word == "?" else word for word in words.split())
    assert parse_rule(f"shell({text})", verdict="allow").covers_words(argv) is wanted


@pytest.mark.parametrize(
    ("text", "directory"),
    [("make", None), ("cd web && make", "web"), ("cd 'a b' && make -j *", "a b"), ("cd * && make", "*")],
)
def test_a_rule_may_name_the_directory_of_its_command(text: str, directory: str | None) -> None:
    pattern = parse_rule(f"shell({text})", verdict="allow").pattern
    assert isinstance(pattern, ShellPattern)
    assert (pattern.directory, pattern.tokens[0].text) == (directory, "make")


@pytest.mark.parametrize(
    ("text", "path", "wanted"),
    [
        ("read(src/**)", "src/a/b.py", True),
        ("read(src/**)", "lib/src/a.py", False),
        ("read(*.md)", "docs/deep/a.md", True),
        ("read(/a.md)", "docs/a.md", False),
        ("read(**/.env)", ".env", True),
        ("read(docs/)", "docs/a", True),
        ("read(docs/)", "docs", True),
        ("read(~/notes)", "/homes/ada/notes/x", True),
        ("read(//srv/**)", "/srv/x", True),
        ("read(**)", "/srv/x", False),
        ("read", "/srv/x", True),
        ("read(**)", ".", True),
        ("read(src)", ".", False),
    ],
)
def test_a_path_rule_is_a_gitignore_pattern_from_the_root(text: str, path: str, *, wanted: bool) -> None:
    assert covers(text, path) is wanted


def test_a_refusal_reaches_outside_the_project_and_ignores_case() -> None:
    assert covers("read(**/.env)", "/other/project/.env", verdict="deny")
    assert covers("read(*.pem)", "/other/A.PEM", verdict="deny")
    assert not covers("read(src/secret)", "/other/src/secret", verdict="deny")
    assert not covers("read(*.pem)", "A.PEM", verdict="allow")


@pytest.mark.parametrize(
    ("pattern", "url", "wanted"),
    [
        ("docs.python.org", "https://docs.python.org/3/", True),
        ("docs.python.org", "https://DOCS.python.org.:443/", True),
        ("docs.python.org", "https://docs.python.org.evil.com/", False),
        ("docs.python.org", "https://docs.python.org@evil.com/", False),
        ("*.python.org", "https://a.b.python.org", True),
        ("*.python.org", "https://python.org", False),
        ("*.python.org", "https://evilpython.org", False),
        ("127.0.0.1", "http://127.0.0.1:8000/", True),
        ("::1", "http://[::1]:8000/", True),
        ("docs.python.org", "https://docs\N{IDEOGRAPHIC FULL STOP}python.org/", True),
        ("docs.python.org", "https://docs.python.org\N{HALFWIDTH IDEOGRAPHIC FULL STOP}/", True),
        ("bücher.example", "https://xn--bcher-kva.example/", True),
        ("xn--bcher-kva.example", "https://BÜCHER.example/", True),
        ("*.bücher.example", "https://a.xn--bcher-kva.example/", True),
        ("fass.de", "https://faß.de/", False),
    ],
)
def test_a_host_rule_is_exact_or_everything_below(pattern: str, url: str, *, wanted: bool) -> None:
    assert parse_rule(f"fetch({pattern})", verdict="allow").matches_host(host_of(url) or "") is wanted


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("fetch(docs.example.org)", ()),
        ("fetch(wiki)", ()),
        ("fetch", ()),
        ("fetch(*.lan)", ()),
        ("fetch(private wiki.lan)", ("wiki.lan",)),
        ("fetch(localhost)", ("localhost",)),
        ("fetch(127.0.0.1)", ("127.0.0.1",)),
        ("fetch([::1])", ("::1",)),
        ("fetch(192.168.1.7)", ("192.168.1.7",)),
        ("fetch(127.1)", ()),
        ("fetch(1.1.1.1)", ()),
    ],
)
def test_only_a_host_that_says_it_is_private_may_lie_on_a_private_network(text: str, hosts: tuple[str, ...]) -> None:
    assert Policy([parse_rule(text, verdict="allow")]).allowed_hosts == hosts
    assert Policy([parse_rule(text, verdict="deny")]).allowed_hosts == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a permission rule"),
        ("shell(git", "is not a permission rule"),
        ("two words", "is not a permission rule"),
        ("shell()", "brackets are empty"),
        ("shell(a | b)", "one command"),
        ("shell(a*b c)", r"\* must be the end"),
        ("shell(a* b)", r"\* must be the end"),
        ("shell(* b)", "must begin with the name"),
        ("shell(cd a b && make)", "one directory"),
        ("shell(cd - && make)", "one directory"),
        ("shell(cd a* && make)", "one directory"),
        ("fetch(private *.lan)", "no single host"),
        ("shell('a)", "not closed"),
        ("fetch(https://x.org/y)", "only its host, `x.org`"),
        ("fetch(a b)", "not a host name"),
        ("write(!a)", "opposite verdict"),
        ("write(/)", "names nothing"),
        ("think(x)", "only these take a pattern: apply_patch, archive, delete_file, edit"),
    ],
)
def test_a_rule_that_cannot_be_used_says_why_and_shows_one_that_can(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        parse_rule(text, verdict="allow")
    assert "`shell(git status*)`" in str(caught.value)


def test_a_rule_keeps_its_text_and_source() -> None:
    rule = parse_rule(" shell(ls) ", verdict="deny", source="config.toml")
    assert (rule.text, rule.tool, rule.verdict, rule.source) == ("shell(ls)", "shell", "deny", "config.toml")


WORD = st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10)


@given(st.lists(WORD, min_size=1, max_size=5))
def test_words_survive_being_written_as_a_rule(words: list[str]) -> None:
    text = " ".join(quoted(word) for word in words)
    pattern = ShellPattern.parse(text)
    assert [(token.text, token.kind) for token in pattern.tokens] == [(word, "exact") for word in words]
    assert pattern.covers(words)
    assert not pattern.covers([*words, "more"])


@given(st.lists(st.text("ab.*?[]!# \\", min_size=1, max_size=8), min_size=1, max_size=3))
def test_a_path_survives_being_written_as_a_rule(parts: list[str]) -> None:
    path = ROOT.joinpath(*(part for part in parts if part not in {".", ".."}), "end")
    rule = parse_rule(rule_for_path("write", path, roots=[ROOT], home=HOME), verdict="allow")
    assert rule.matches_path(path, roots=[ROOT], home=HOME)
    assert not rule.matches_path(path.with_name("ends"), roots=[ROOT], home=HOME)


@given(st.text(max_size=60))
def test_no_text_makes_reading_a_rule_fail_in_another_way(text: str) -> None:
    try:
        rule = parse_rule(text, verdict="allow")
    except ConfigError:
        return
    assert parse_rule(rule.text, verdict="allow") == rule

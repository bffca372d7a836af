"""Redaction, measured on a corpus of made-up secrets and of ordinary text (`tests/core/redaction`)."""

import string
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core import key_shapes, named_secrets, private_keys, value_shapes
from claw_acp.core.known_secrets import KnownSecrets
from claw_acp.core.redaction import REDACTED, Redactor, redact
from tests.core.redaction.harmless import harmless
from tests.core.redaction.hostile import HOSTILE
from tests.core.redaction.made_up import made_up
from tests.core.redaction.measure import false_alarms, misses, per_class, sizes, survives
from tests.core.redaction.secrets import all_named_secrets, named_secret, vendor_secrets

_parser: Any = import_module("re._parser")  # where the standard library says how it reads a pattern
OWN = "sk" + "-own/" + made_up(30, seed="own") + '+"\\é='


def test_the_corpus_has_neither_misses_nor_false_alarms() -> None:
    assert min(sizes()) >= 450
    missed, alarmed = misses(redact), false_alarms(redact)
    assert (per_class(missed), per_class(alarmed)) == ("none", "none")


def test_all_of_it_in_one_text_is_found_too() -> None:
    texts = [text for _, text in harmless() if "-----" not in text]
    secrets = [(text, secret) for _, text, secret in (*vendor_secrets(), *all_named_secrets())]
    cleaned = redact("\n\n".join((*texts, *(text for text, _ in secrets))))
    assert [secret for _, secret in secrets if survives(secret, cleaned)] == []
    assert [text for text in texts if text not in cleaned] == []


def test_redacting_twice_changes_nothing_more() -> None:
    once = redact("\n".join(text for _, text, _ in (*vendor_secrets(), *all_named_secrets())))
    assert redact(once) == once


@pytest.mark.parametrize("name", HOSTILE)
def test_the_work_is_in_proportion_to_the_text(name: str) -> None:
    small, large = (_calls((HOSTILE[name] * size)[:size]) for size in (5_000, 10_000))
    assert large <= small * 2.1 + 100


def _calls(text: str) -> int:
    """How many functions one redaction calls."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event.endswith("call")

    sys.setprofile(called)
    try:
        redact(text)
    finally:
        sys.setprofile(None)
    return count


NO_PATTERNS = {
    "_LETTERS",
    "_AFTER",
    "_UPPER",
    "_TELLS",
    "_PLACEHOLDERS",
    "_PASSING",
    "_HEADERS",
    "_NO_KEYS",
    "_NO_PASSWORD",
}


def test_no_pattern_gives_back_without_bound_what_it_has_read() -> None:
    """Only a repetition that never gives back may be endless: with others, time grows with the square of the text."""
    patterns = [
        (name, pattern)
        for module in (key_shapes, named_secrets, private_keys, value_shapes)
        for name, value in vars(module).items()
        if name.startswith("_") and name.isupper() and name not in NO_PATTERNS
        for pattern in _texts(value)
    ]
    assert len(patterns) > 50
    assert [name for name, pattern in patterns if max(_repeats(_parser.parse(pattern)), default=0) > 512] == []


def _texts(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return list(cast("dict[str, str]", value).values())
        case tuple():
            return list(cast("tuple[str, ...]", value))
        case _:
            return []


def _repeats(tree: object) -> Iterator[int]:
    """The upper bounds of all repetitions that give back, anywhere in a parsed pattern."""
    parts = list(cast("Iterable[object]", tree)) if isinstance(tree, tuple | list | _parser.SubPattern) else []
    if len(parts) == 2 and parts[0] in (_parser.MAX_REPEAT, _parser.MIN_REPEAT):
        yield cast("tuple[int, int]", parts[1])[1]
    for part in parts:
        yield from _repeats(part)


@pytest.mark.parametrize("kind", ["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_the_frame_of_a_private_key_and_the_numbers_of_its_lines_stay(kind: str) -> None:
    begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    body = made_up(64, seed=kind)
    cleaned = redact(f"before\n   12→{begin}\n   13→{body}\n   14→{end}\nafter")
    assert cleaned == f"before\n   12→{begin}\n   13→{REDACTED}\n   14→{end}\nafter"


def test_the_beginning_stays_so_that_a_person_can_tell_which_key_it_was() -> None:
    key = "sk" + "-" + made_up(48, seed="a")
    assert redact(key) == key[:4] + REDACTED


def test_of_a_short_password_at_most_a_quarter_stays() -> None:
    assert redact("password: h7Kq-x9Z") == f"password: h7{REDACTED}"


def test_text_without_candidates_is_returned_as_it_is() -> None:
    text = "nothing to see here " * 1000
    assert redact(text) is text


def test_known_secrets_go_wherever_they_appear_and_short_ones_are_left_alone() -> None:
    clean = Redactor(["plain words as key", "plain words", "abc", ""])
    assert clean("x plain words as key y abc") == f"x plai{REDACTED} y abc"


def test_a_known_secret_inside_a_longer_one_does_not_shield_it() -> None:
    clean = Redactor(["abcdefgh", "abcdefgh-ijklmnop"])
    assert clean("(abcdefgh-ijklmnop)") == f"(abcd{REDACTED})"


def test_a_known_secret_goes_in_every_form_that_programs_write() -> None:
    clean = Redactor([OWN]).without_known
    assert [form for form in KnownSecrets([OWN]).forms if clean(f"({form})") != f"({form[:4]}{REDACTED})"] == []


def test_a_known_secret_is_found_in_the_middle_of_encoded_text() -> None:
    for before in range(4):
        whole = b64encode(b"x" * before + OWN.encode() + b" and more").decode()
        assert not any(form[8:-8] in Redactor([OWN]).without_known(whole) for form in KnownSecrets([OWN]).forms)


@given(st.data())
def test_a_known_secret_goes_however_the_text_that_holds_it_is_cut(data: st.DataObject) -> None:
    secret = "sk-known-0123456789abcdef"
    text = "".join(data.draw(st.lists(st.sampled_from([secret, "sk-", "sk-known", "words ", "s", "🙂"]), max_size=8)))
    stream = Redactor([secret]).streamed()
    told, rest = "", text
    while rest:
        size = data.draw(st.integers(1, 30))
        told += stream.feed(rest[:size])
        rest = rest[size:]
    told += stream.close()
    assert secret not in told
    assert told.replace("sk-k" + REDACTED, secret) == text


@pytest.mark.parametrize("kind", ["env file", "password yaml", "client secret", "bearer", "password xml"])
def test_what_may_become_a_secret_is_not_shown_at_the_end_of_output_that_goes_on(kind: str) -> None:
    text, secret = named_secret(kind, "cut")
    begins = text.index(secret)
    for cut in range(begins + 1, begins + len(secret)):
        assert secret[: max(5, cut - begins)] not in Redactor().unfinished(text[:cut])


@pytest.mark.parametrize(
    "text", ["listening on http://localhost:8080", "42 % done", "Continue? [y/N]", "key: ", "v1.2.3"]
)
def test_the_end_of_ordinary_output_is_shown_while_it_goes_on(text: str) -> None:
    assert Redactor().unfinished(text) == text


def test_a_piece_that_begins_no_secret_is_passed_on_at_once() -> None:
    stream = Redactor(["sk-known-0123456789abcdef"]).streamed()
    assert [stream.feed(piece) for piece in ("it is s", "o", " sk-kno", "t")] == ["it is s", "o", " ", "sk-knot"]


@given(st.text(alphabet=string.ascii_lowercase + " .,;\n", max_size=300))
def test_lower_case_prose_is_never_changed(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=400))
def test_no_text_whatsoever_makes_it_fail(text: str) -> None:
    redact(text)

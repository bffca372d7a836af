"""What a command finds in its environment."""

from hypothesis import given
from hypothesis import strategies as st

from claw_acp.process.output_tail import OutputTail
from claw_acp.workspace.environment import command_environment


def test_model_keys_and_our_own_settings_are_not_handed_on() -> None:
    ours = ["OPENAI_API_KEY", "API_KEY", "GEMINI_API_KEY_2", "MISTRAL_APIKEY", "openai_api_key", "AZURE_API_KEYS"]
    ours += ["ANTHROPIC_AUTH_TOKEN", "CLAW_ACP_HOME", "CI", "AWS_BEARER_TOKEN_BEDROCK"]
    theirs = {"HOME": "/h", "PATH": "/b", "GITHUB_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "s", "CAPI_KEYBOARD": "de"}
    seen = command_environment({**dict.fromkeys(ours, "x"), **theirs}, extra={})
    assert {name: value for name, value in seen.items() if name in theirs} == theirs
    assert not set(ours) & set(seen)


def test_a_variable_that_is_given_explicitly_is_handed_on() -> None:
    assert command_environment({}, extra={"OPENAI_API_KEY": "mine"})["OPENAI_API_KEY"] == "mine"


def test_programs_are_told_not_to_page_nor_to_draw() -> None:
    seen = command_environment({"PAGER": "less", "TERM": "xterm"}, extra={"NO_COLOR": "0"})
    assert (seen["PAGER"], seen["GIT_PAGER"], seen["TERM"], seen["NO_COLOR"]) == ("cat", "cat", "dumb", "0")


@given(chunks=st.lists(st.binary(max_size=20), max_size=20), limit=st.integers(min_value=0, max_value=40))
def test_the_tail_is_the_end_of_what_came(chunks: list[bytes], limit: int) -> None:
    tail = OutputTail(limit=limit)
    for chunk in chunks:
        tail.add(chunk)
    whole = b"".join(chunks)
    assert tail.truncated == (len(whole) > limit)
    kept = whole[len(whole) - min(limit, len(whole)) :]
    text = tail.text(ended=True)
    assert kept.decode(errors="replace").endswith(text)
    assert len(text.encode(errors="replace")) >= len(kept) - 3
    raw = tail.raw(limit=limit)
    assert kept.endswith(raw)
    assert tail.truncated or raw == kept


@given(text=st.text(max_size=60), limit=st.integers(min_value=4, max_value=40))
def test_characters_are_never_cut(text: str, limit: int) -> None:
    tail = OutputTail(limit=limit)
    seen = ""
    for byte in text.encode():
        tail.add(bytes([byte]))
        if not tail.truncated:
            later = tail.text(ended=False)
            assert later.startswith(seen)
            seen = later
    assert text.endswith(tail.text(ended=True))

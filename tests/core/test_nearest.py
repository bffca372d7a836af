"""The word that somebody probably meant."""

import pytest

from claw_acp.core.nearest import nearest

KEYS = ("model", "vision_model", "mode", "protocol_2", "model_lists", "limits", "providers", "permissions", "api_key")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("modle", "model"),
        ("mdoe", "mode"),
        ("mod", "mode"),
        ("modell", "model"),
        ("Mode", "mode"),
        ("limitz", "limits"),
        ("provider", "providers"),
        ("perm", "permissions"),
        ("lists", "model_lists"),
        ("permisions", "permissions"),
        ("apikey", "api_key"),
        ("protocol2", "protocol_2"),
        ("modellists", "model_lists"),
        ("xyzzy", None),
        ("", None),
        ("x", None),
        ("x" * 100_000, None),
    ],
)
def test_the_word_with_the_fewest_typing_errors_is_meant(typed: str, meant: str | None) -> None:
    assert nearest(typed, KEYS) == meant

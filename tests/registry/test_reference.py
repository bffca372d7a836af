"""References."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_acp.core.errors import BrokenExtension
from claw_acp.registry.reference import Ref


def test_a_reference_loads_what_it_names() -> None:
    assert Ref[Callable[[str], str]]("os.path:basename").load()("a/b") == "b"


def test_a_reference_reaches_into_classes() -> None:
    assert Ref[Callable[[str], Path]]("pathlib:Path.home").load() == Path.home


def test_a_reference_imports_nothing_before_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lazy_room.py").write_text("guest = 1\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    reference = Ref[int]("lazy_room:guest")
    assert "lazy_room" not in sys.modules
    assert reference.load() == 1


@pytest.mark.parametrize("text", ["", "os", "os:", ":path", "os path:x", "os:a b", "os:path:join", "../x:y"])
def test_a_malformed_reference_is_refused_at_once(text: str) -> None:
    with pytest.raises(BrokenExtension, match="is not a reference"):
        Ref[object](text)


@pytest.mark.parametrize("text", ["no_such_module_here:x", "os:no_such_name", "os:path.nope"])
def test_a_reference_to_nothing_says_what_is_missing(text: str) -> None:
    with pytest.raises(BrokenExtension, match=rf'"{text}" cannot be loaded: .*(no_such|nope)'):
        Ref[object](text).load()

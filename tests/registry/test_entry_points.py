"""Extensions of installed packages."""

import logging
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from zipfile import ZipFile

import pytest

from claw_acp.registry.entry_points import discover, load_extension
from claw_acp.registry.installed_points import InstalledPoint, installed_points
from claw_acp.registry.reference import Ref

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a package with these entry points where Python looks for packages."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    discover.cache_clear()
    installed_points.cache_clear()

    def put(package: str, lines: str) -> None:
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(lines)

    yield put
    discover.cache_clear()
    installed_points.cache_clear()


def test_extensions_are_found_by_kind_and_name(install: Install) -> None:
    install("one", "[claw_acp.testkind]\nb = one.b:make\na = one.a:make\n[claw_acp.otherkind]\nc = one.c:make\n")
    found = {name: reference.text for name, reference in discover("testkind").items()}
    assert found == {"a": "one.a:make", "b": "one.b:make"}
    assert list(discover("nokind")) == []


def test_a_malformed_extension_is_left_out_with_one_line(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    install("one", "[claw_acp.testkind]\nbad = not a reference\ngood = one:make\n")
    assert list(discover("testkind")) == ["good"]
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.WARNING, "extension disabled")
    ]


@pytest.mark.parametrize("group", ["testkind", "otherkind"])
def test_a_stranger_cannot_take_a_built_in_name(group: str, install: Install, caplog: pytest.LogCaptureFixture) -> None:
    install("aaa", "[claw_acp.testkind]\nopenai = aaa:make\n")
    install("bbb", f"[claw_acp.{group}]\nopenai = claw_acp.core.version:VERSION\n")
    assert discover("testkind", "otherkind")["openai"].text == "claw_acp.core.version:VERSION"
    assert len(caplog.records) == 1


@pytest.mark.parametrize("source", ["raise RuntimeError('out of order')", "import no_such_module_here", "1 +"])
def test_an_extension_that_breaks_while_loading_disables_itself(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    name = f"broken_{abs(hash(source))}"
    (tmp_path / f"{name}.py").write_text(source)
    assert load_extension(Ref[object](f"{name}:make"), kind="testkind", name="it") is None
    assert [record.getMessage() for record in caplog.records] == ["extension disabled"]


def test_what_is_found_is_what_the_standard_library_finds(install: Install) -> None:
    install("One.Two", "# of it\n[claw_acp.testkind]\na=one:make \n\n[other]\nb = two:make\n")
    install("none", "")
    library = entry_points()
    ours = {group for group in library.groups if group.startswith("claw_acp.")}
    assert {"claw_acp.testkind", "claw_acp.tools"} <= ours
    assert sorted((point.group, point.name, point.value) for point in installed_points()) == sorted(
        (group, point.name, point.value) for group in ours for point in library.select(group=group)
    )


def test_packages_in_an_archive_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ZipFile(tmp_path / "packages.zip", "w") as archive:
        archive.writestr("two-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: two\nVersion: 1.0\n")
        archive.writestr("two-1.0.dist-info/entry_points.txt", "[claw_acp.testkind]\nb = two:make\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "packages.zip")])
    installed_points.cache_clear()
    found = installed_points()
    installed_points.cache_clear()
    assert InstalledPoint(group="claw_acp.testkind", name="b", value="two:make") in found


def test_a_sound_extension_is_loaded() -> None:
    assert load_extension(Ref[object]("claw_acp.core.version:VERSION"), kind="testkind", name="it")

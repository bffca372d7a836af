"""Archives, good ones and hostile ones."""

import io
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

from claw_acp.contracts.tool import ReadsPath, WritesPath
from claw_acp.core.errors import ToolError
from claw_acp.tools.data.archive import Archive
from tests.support.tool_bench import Bench, EditorWorkspace

archive = Archive()


class Pack(Protocol):
    def __call__(self, entries: Mapping[str, bytes], *, links: Mapping[str, str] | None = None) -> bytes: ...


@pytest.fixture(params=["disk", "editor"])
def bench(request: pytest.FixtureRequest, root: Path) -> Bench:
    return Bench.on(root) if request.param == "disk" else Bench(EditorWorkspace(root))


def _zip(entries: Mapping[str, bytes], *, links: Mapping[str, str] | None = None) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries.items():
            packed.writestr(name, content)
        for name, target in (links or {}).items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            packed.writestr(info, target)
    return made.getvalue()


def _tar(entries: Mapping[str, bytes], *, links: Mapping[str, str] | None = None) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as packed:
        for name, content in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            packed.addfile(info)
    return made.getvalue()


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): b"->" if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz", "a.tar.xz"])
async def test_what_is_packed_is_listed_and_unpacked_again(bench: Bench, root: Path, name: str) -> None:
    (root / "src/.git").mkdir(parents=True)
    (root / "src/.git/config").write_text("x")
    (root / "src/a.txt").write_text("a" * 1000)
    (root / "src/b.bin").write_bytes(bytes(range(256)))
    (root / "src/link").symlink_to("/etc/passwd")
    (root / "secret").write_text("s")
    (root / "single").write_text("1")
    bench.may_read = lambda path: path.name != "secret"
    text = await bench.text(archive, action="create", path=name, paths=["src", "single"])
    assert text.startswith(f"Created {name} with 3 files (")
    assert "src/a.txt (1.0 KB)" in await bench.text(archive, action="list", path=name)
    assert await bench.text(archive, action="extract", path=name, target="out") == (
        "Unpacked 3 files into out (1.3 KB)."
    )
    assert _tree(root / "out") == {"single": b"1", "src/a.txt": b"a" * 1000, "src/b.bin": bytes(range(256))}


HOSTILE = {
    "../out": b"", "/etc/out": b"", "a/../../out": b"", "..\\out": b"", "C:/out": b"", "new\nline": b"",
    ".git/hooks/pre-commit": b"evil", "x/.vscode/tasks.json": b"evil", "n" * 300: b"", "d/" * 60 + "deep": b"",
}  # fmt: skip


@pytest.mark.parametrize("pack", [_zip, _tar])
async def test_names_and_links_that_lead_out_are_left_out_and_told(bench: Bench, root: Path, pack: Pack) -> None:
    data = pack({**HOSTILE, "good/./a": b"a"}, links={"link": "/etc", "link/x": "y"})
    (root / "a").write_bytes(data)
    text = await bench.text(archive, action="extract", path="a", target="out")
    assert _tree(root / "out") == {"good/a": b"a"}
    assert _names(root.parent) == ["project"]
    assert text.count("(left out: ") == len(HOSTILE) + 2
    assert ".git/hooks/pre-commit (left out: .git can make other programs run commands)" in text


@pytest.mark.parametrize(("target", "name"), [(".github", "hooks/x.json"), ("x/.config", "mise/conf.d/x.toml")])
async def test_names_that_are_guarded_with_that_of_the_directory_are_left_out(
    bench: Bench, root: Path, target: str, name: str
) -> None:
    (root / "a.zip").write_bytes(_zip({name: b"evil", "good": b"a"}))
    assert f"{name} (left out: " in await bench.text(archive, action="extract", path="a.zip", target=target)
    assert _tree(root / target) == {"good": b"a"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no archive", "cannot be unpacked: it is broken or no archive"),
        (_zip({"a": b"x"})[:-30], "cannot be unpacked: it is broken or no archive"),
        (_zip({}), "holds no files"),
        (_zip({"a/b": b"", "A/B": b""}), "A/B twice, or in two spellings"),
        (_zip({"a": b"", "a/b": b""}), "has a/b below a file"),
        (_zip({"a": bytes(150_000_000)}), "it holds more than 100,000,000 bytes"),
        (_tar({"a": bytes(60_000_000), "b": bytes(60_000_000)}), "it holds more than 100,000,000 bytes"),
        (_zip({f"{n}": b"" for n in range(2_001)}), "has 2,001 files; at most 2,000"),
    ],
    ids=["none", "cut", "empty", "spellings", "below", "bomb", "tar bomb", "many"],
)
async def test_an_archive_that_is_refused_leaves_nothing_behind(root: Path, data: bytes, reason: str) -> None:
    (root / "a").write_bytes(data)
    with pytest.raises(ToolError, match=reason):
        await Bench.on(root).call(archive, action="extract", path="a", target="out")
    assert _names(root) == ["a"]


@pytest.mark.parametrize("there", ["file", "full", "link"])
async def test_nothing_is_unpacked_over_what_is_there(bench: Bench, root: Path, there: str) -> None:
    (root / "a").write_bytes(_zip({"x": b"new"}))
    (root / "file").write_text("old")
    (root / "full").mkdir()
    (root / "full/x").write_text("old")
    (root / "link").symlink_to("full")
    with pytest.raises(ToolError, match="is not an empty directory"):
        await bench.call(archive, action="extract", path="a", target=there)
    assert _tree(root) == {"a": _zip({"x": b"new"}), "file": b"old", "full/x": b"old", "link": b"->"}
    await bench.call(archive, action="create", path="same.zip", paths=["a"])
    with pytest.raises(ToolError, match="exists already"):
        await bench.call(archive, action="create", path="same.zip", paths=["file"])


def test_a_person_is_asked_before_files_with_unknown_names_are_written(bench: Bench, root: Path) -> None:
    (access,) = (
        each
        for each in bench.prepare(archive, action="extract", path="a", target="out").accesses
        if isinstance(each, WritesPath)
    )
    assert (access.path, bool(access.caution)) == (root / "out", True)
    made = bench.prepare(archive, action="create", path="b.zip", paths=["x", "../y"]).accesses
    assert made == (ReadsPath(path=root / "x"), ReadsPath(path=root.parent / "y"), WritesPath(path=root / "b.zip"))

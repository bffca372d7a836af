"""Applying patches in both formats."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.tool import ReadsPath, WritesPath
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.core.events import DiffContent
from claw_acp.tools.files.apply_patch import ApplyPatch
from claw_acp.tools.files.patch_fit import fitted
from claw_acp.tools.files.patch_plan import read_patch
from claw_acp.tools.files.read_file import ReadFile
from tests.support.tool_bench import Bench, EditorWorkspace, said

apply_patch, read_file = ApplyPatch(), ReadFile()


def _fill(root: Path, **files: str) -> None:
    for name, text in files.items():
        (root / name).write_bytes(text.encode())


def _files(root: Path) -> Mapping[str, str]:
    return {str(path.relative_to(root)): path.read_bytes().decode() for path in root.rglob("*") if path.is_file()}


def _patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


ALL_KINDS = _patch(
    "*** Update File: a", "@@", " one", "-two", "+2", " three", "*** Add File: new/b", "+fresh", "+",
    "*** Delete File: c", "*** Update File: d", "*** Move to: sub/d", "@@", "-x", "+y",
)  # fmt: skip
THE_SAME_AS_GIT_WRITES_IT = """diff --git a/a b/a
index 1234567..89abcde 100644
--- a/a
+++ b/a
@@ -1,3 +1,3 @@ whatever
 one
-two
+2
 three
diff --git a/new/b b/new/b
new file mode 100644
index 0000000..1234567
--- /dev/null
+++ b/new/b
@@ -0,0 +1,2 @@
+fresh
+
diff --git a/c b/c
deleted file mode 100644
index 1234567..0000000
--- a/c
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/d b/sub/d
similarity index 50%
rename from d
rename to sub/d
index 1234567..89abcde 100644
--- a/d
+++ b/sub/d
@@ -1 +1 @@
-x
+y
--
2.39.2
"""


@pytest.mark.parametrize("patch", [ALL_KINDS, THE_SAME_AS_GIT_WRITES_IT], ids=["envelope", "git"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
async def test_files_are_changed_added_deleted_and_moved(bench: Bench, root: Path, patch: str, ends: str) -> None:
    _fill(root, a="one\r\ntwo\r\nthree\r\n", c="gone\n", d="x\n")
    result = await bench.call(apply_patch, patch=patch.replace("\n", ends))
    assert _files(root) == {"a": "one\r\n2\r\nthree\r\n", "new/b": "fresh\n\n", "sub/d": "y\n"}
    assert said(result).splitlines() == [
        "Updated a: changed line 2.", "Added new/b (2 lines).", "Moved d to sub/d: changed line 1.", "Deleted c.",
    ]  # fmt: skip
    assert DiffContent(path=str(root / "c"), old_text="gone\n", new_text=None) in (result.content or ())


async def test_all_that_a_patch_reads_and_writes_is_known_before_it_runs(bench: Bench, root: Path) -> None:
    found = {(type(each), each.path.name) for each in bench.prepare(apply_patch, patch=ALL_KINDS).accesses
             if isinstance(each, ReadsPath | WritesPath)}  # fmt: skip
    reads = {name for kind, name in found if kind is ReadsPath}
    assert (reads, {name for kind, name in found if kind is WritesPath}) == ({"a", "c", "d"}, {"a", "b", "c", "d"})
    assert _files(root) == {}


@pytest.mark.parametrize(
    ("text", "hunks", "wanted"),
    [
        ("a\nb", ["@@", "-b", "+c"], "a\nc"),
        ("a\nb\n", ["@@", " b", "+c", "*** End of File"], "a\nb\nc\n"),
        ("x\na\nx\n", ["@@", "-x", "+y", "*** End of File"], "x\na\ny\n"),
        ("def f():\n  x\ndef g():\n  x\n", ["@@ def g():", "-  x", "+  y"], "def f():\n  x\ndef g():\n  y\n"),
        ("class A:\n def f\n  x\nclass B:\n def f\n  x\n", ["@@ class B:", "@@  def f", "-  x", "+  y"],
         "class A:\n def f\n  x\nclass B:\n def f\n  y\n"),
        ("a\n", ["-a", "+b"], "b\n"),
        ("a\n\nb\n", ["@@", " a", "", "-b", "+c"], "a\n\nc\n"),
        ("a\n", ["@@", "+b"], "a\nb\n"),
        ("x\na\nb\nc\n", ["@@", "-x", "+1", "@@", "-c", "+3"], "1\na\nb\n3\n"),
        ("", ["@@", "+a"], "a\n"),
        ("a\n", ["@@", "-a"], ""),
    ],
)  # fmt: skip
async def test_hunks_without_line_numbers_fit_where_their_lines_are(
    bench: Bench, root: Path, text: str, hunks: list[str], wanted: str
) -> None:
    _fill(root, a=text)
    await bench.call(apply_patch, patch=_patch("*** Update File: a", *hunks))
    assert _files(root) == {"a": wanted}


@pytest.mark.parametrize(
    ("text", "hunks", "wanted"),
    [
        ("a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c", "a\nc\n"),
        ("a\nb\n", "@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file", "a\nc"),
        ("a\nx\na\nx\n", "@@ -4 +4 @@\n-x\n+y", "a\nx\na\ny\n"),
        ("a\n", "@@ -1,0 +2 @@\n+b", "a\nb\n"),
        ("-- a\nb\n", "@@ -1,2 +1,2 @@\n--- a\n+++ c\n b", "++ c\nb\n"),
        ("a\n- b\n", "@@ -1,2 +1 @@\n a\n-- b", "a\n"),
        ("a\nb\nc\n", "@@ -1,9 +1,7 @@\n a\n-b\n c", "a\nc\n"),
        ("a\nb\nc\n", "@@ -1 +1 @@\n a\n-b\n c", "a\nc\n"),
        ("a\nb\n", "@@ ... @@\n-b\n+c", "a\nc\n"),
    ],
)
async def test_hunks_of_unified_diffs_are_read_as_patch_and_models_mean_them(
    bench: Bench, root: Path, text: str, hunks: str, wanted: str
) -> None:
    _fill(root, a=text)
    await bench.call(apply_patch, patch=f"```diff\n--- a/a\n+++ b/a\n{hunks}\n```\n")
    assert _files(root) == {"a": wanted}


async def test_a_hunk_at_another_line_than_it_says_fits_and_is_told(bench: Bench, root: Path) -> None:
    _fill(root, a="0\n0\n0\na\n")
    text = await bench.text(apply_patch, patch="--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n")
    assert text == "Updated a: changed line 4 (hunk 1 was at line 4, not 1)."


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        (_patch("*** Update File: a", "@@", " one", "-2", "+3"),
         r"Hunk 1 for a \(line 3 of the patch\) does not fit. The nearest place is line 1, where its line '2' is not"),
        (_patch("*** Update File: a", "@@", "-\ttwo", "+3"), r"with other spaces or tabs.*\n +2→'  two'"),
        (_patch("*** Update File: a", "@@", "-zzz", "+3"), "None of its unchanged or removed lines is in the file"),
        (_patch("*** Update File: a", "@@", "-same", "+3"), r"fits in 2 places \(lines 3, 4\)"),
        (_patch("*** Update File: a", "@@ nowhere", "-one", "+3"), "there is no line 'nowhere'"),
        (_patch("*** Update File: a", "@@", "-same", "+1", "*** End of File", "@@", "-one", "+3"),
         r"Hunk 2 .*not after line 4"),
        (_patch("*** Update File: a", "@@", " one"), "changes nothing"),
        (_patch("*** Update File: a"), "has no hunk for a"),
        (_patch("*** Update File: a", "@@", "-one", "three"), "at its line 5: in hunk 1 each line begins with"),
        (_patch("*** Add File: a", "+x"), "a exists already"),
        (_patch("*** Add File: b", "x"), "at its line 3: each line of a new file"),
        (_patch("*** Update File: a", "*** Move to: b", "@@", "-one", "+1"), "b exists already"),
        (_patch("*** Delete File: missing"), "missing does not exist"),
        (_patch("*** Delete File: binary"), "binary file"),
        (_patch("*** Delete File: link"), "is a symbolic link. Use delete_file"),
        (_patch("*** Delete File: b", "*** Add File: b", "+x"), "names a file twice"),
        (_patch("something"), "at its line 2: there must be"),
        ("*** Begin Patch\n*** End Patch", "names no file"),
        ("change it please", "names no file"),
        ("--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-first", "more lines than the patch deletes"),
        ("@@ -1 +1 @@\n-one\n+1", "at its line 1: there is no `--- `"),
        ("--- a/a\n+++ b/a\nnothing", "at its line 3: there must be a hunk"),
        ("diff --git a/e b/e\nnew file mode 100644\nindex 1..2", "at its line 2: the file is empty or binary"),
        ("diff --git a/e b/e\nGIT binary patch\nliteral 3", "binary contents cannot be patched"),
    ],
)  # fmt: skip
async def test_what_does_not_fit_is_refused_with_hunk_line_and_reason(
    bench: Bench, root: Path, patch: str, reason: str
) -> None:
    _fill(root, a="one\n  two\nsame\nsame\n", b="first\nsecond\n", binary="\0")
    (root / "link").symlink_to("a")
    before = _files(root)
    whole = patch.replace("*** End Patch", "*** Add File: other\n+x\n*** End Patch")
    with pytest.raises(ToolError, match=reason):
        await bench.call(apply_patch, patch=patch if "names no file" in reason else whole)
    assert _files(root) == before


async def test_a_write_that_fails_takes_back_those_before_it(root: Path) -> None:
    class Failing(EditorWorkspace):
        async def delete_file(self, path: Path) -> None:
            raise ToolError(f"{path.name} cannot be deleted.")

    _fill(root, a="one\ntwo\nthree\n", c="gone\n", d="x\n")
    editor = Failing(root)
    bench = Bench(editor)
    with pytest.raises(ToolError, match=r"c cannot be deleted\. None of the patch was applied\."):
        await bench.call(apply_patch, patch=ALL_KINDS.replace("*** Add File: new/b\n+fresh\n+\n", ""))
    assert {path.name: text for path, text in editor.buffers.items()} == {"a": "one\ntwo\nthree\n", "d": "x\n"}
    assert _files(root) == {"a": "one\ntwo\nthree\n", "c": "gone\n", "d": "x\n"}


async def test_a_patch_is_applied_to_unsaved_text_but_takes_no_file_away_that_has_some(root: Path) -> None:
    editor = EditorWorkspace(root)
    _fill(root, a="saved\n", c="gone\n")
    editor.buffers[root / "a"] = "typed\n"
    await Bench(editor).call(apply_patch, patch=_patch("*** Update File: a", "@@", "-typed", "+2"))
    assert editor.buffers[root / "a"] == "2\n"
    editor.buffers[root / "c"] = "precious\n"
    for patch in (
        _patch("*** Delete File: c"),
        _patch("*** Update File: c", "*** Move to: e", "@@", "-precious", "+2"),
    ):
        with pytest.raises(FileConflict, match="c has unsaved changes"):
            await Bench(editor).call(apply_patch, patch=patch)
    editor.buffers[root / "never-saved"] = "mine"
    with pytest.raises(ToolError, match="exists already"):
        await Bench(editor).call(apply_patch, patch=_patch("*** Add File: never-saved", "+x"))


async def test_changes_of_others_are_not_overwritten(bench: Bench, root: Path) -> None:
    _fill(root, a="one\n")
    await bench.call(read_file, path="a")
    _fill(root, a="one\nmine\n")
    with pytest.raises(FileConflict, match="changed since you last read it"):
        await bench.call(apply_patch, patch=_patch("*** Update File: a", "@@", "-one", "+1"))
    await bench.call(read_file, path="a")
    call = bench.prepare(apply_patch, patch=_patch("*** Update File: a", "@@", "-one", "+1"))
    await call.preview()
    _fill(root, a="one\nmine\nmore\n")
    with pytest.raises(FileConflict):
        await call.run()
    assert _files(root) == {"a": "one\nmine\nmore\n"}


lines = st.lists(st.sampled_from(["a", "b", "", "-- c", "++ d", "- e", "@@", "*** End Patch", "\t f"]), max_size=12)


@settings(deadline=None, max_examples=60)
@given(lines, lines, st.sampled_from(["", "\n"]), st.sampled_from(["", "\n"]), st.sampled_from(["0", "1", "3"]))
def test_what_git_writes_of_any_two_texts_makes_one_of_the_other(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str], old_end: str, new_end: str, around: str
) -> None:
    before = "\n".join(old) + old_end * bool(old)
    after = "\n".join(new) + new_end * bool(new)
    place = tmp_path_factory.mktemp("diff")
    _fill(place, old=before, new=after)
    git = ["git", "diff", "--no-index", f"-U{around}", "--", "old", "new"]
    diff = subprocess.run(git, cwd=place, capture_output=True, text=True, check=False, timeout=30).stdout
    if diff and before and after:
        (part,) = read_patch(diff)
        assert fitted(before, part.hunks, shown="old").text == after

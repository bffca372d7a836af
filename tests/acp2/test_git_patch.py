"""Patches as Git writes them: applied by Git itself, to files of every kind of name and text."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from claw_acp.acp.v2.git_patch import MAX_CHANGED, MAX_COMPARED, git_patch, quoted
from tests.support.toolchain import missing

needs_git = pytest.mark.skipif(bool(missing("git")), reason=missing("git"))

NAMES = ["a.txt", "with space.txt", "ünï.txt", 'q"uote.txt', "tab\tname", "back\\slash", "new\nline"]
CHANGES = [
    (None, "a\nb\n"),
    (None, "no newline"),
    (None, ""),
    ("a\n", None),
    ("no newline", None),
    ("", None),
    ("a\nb\n", "a\nc\n"),
    ("a\nb", "a\nb\n"),
    ("a\nb\n", "a\nb"),
    ("a", "b"),
    ("", "x"),
    ("x", ""),
    ("a\r\nb\r\n", "a\nb\r\n"),
    ("a\x0cb\u2028c\x85\n", "a\x0cd\u2028c\x85\n"),
    ("".join(f"{line}\n" for line in range(40)), "".join(f"{line}\n" for line in range(40) if line not in {3, 30})),
]


def applied(patch: str, path: Path, old: str | None) -> str | None:
    """What Git makes of the old text."""
    path.parent.mkdir(parents=True, exist_ok=True)  # Git removes a directory with its last file
    path.unlink(missing_ok=True)
    if old is not None:
        path.write_bytes(old.encode())
    command = ["git", "apply", "--unsafe-paths", "-p1"]
    for arguments in ([*command, "--check", "-"], [*command, "-"]):
        done = subprocess.run(arguments, input=patch.encode(), cwd="/", capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    return path.read_bytes().decode() if path.exists() else None


@needs_git
@pytest.mark.rule("v2.diff-paths")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_git_applies_it(tmp_path: Path, name: str, *, old: str | None, new: str | None) -> None:
    path = tmp_path / "folder" / name
    assert applied(git_patch(str(path), old, new), path, old) == new


texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "+x\n", "-x\n", "@@\n", "d"]), max_size=30).map("".join)


@needs_git
@settings(max_examples=30)
@given(old=texts, new=texts)
@example(old="", new="d")
def test_git_applies_any_change_of_lines(tmp_path_factory: pytest.TempPathFactory, old: str, new: str) -> None:
    patch = git_patch(str(path := tmp_path_factory.mktemp("any") / "file"), old, new)
    if old == new:
        assert patch == ""
    else:
        assert applied(patch, path, old) == new


def test_the_headers_are_those_of_git() -> None:
    assert git_patch("/a/b c.txt", "1\n", "2\n").splitlines() == [
        "diff --git /a/b c.txt /a/b c.txt",
        "--- /a/b c.txt\t",
        "+++ /a/b c.txt\t",
        "@@ -1 +1 @@",
        "-1",
        "+2",
    ]
    assert git_patch("/n", None, "1").splitlines() == [
        "diff --git /n /n",
        "new file mode 100644",
        "--- /dev/null",
        "+++ /n",
        "@@ -0,0 +1 @@",
        "+1",
        "\\ No newline at end of file",
    ]
    assert "deleted file mode 100644\n--- /n\n+++ /dev/null\n" in git_patch("/n", "1\n", None)


def test_names_are_quoted_as_git_quotes_them() -> None:
    assert quoted("/plain/a b.txt") == "/plain/a b.txt"
    assert quoted('/a"b\\c\td') == '"/a\\"b\\\\c\\td"'
    assert quoted("/ü") == '"/\\303\\274"'


def test_a_large_change_is_one_hunk_and_a_huge_one_has_no_patch() -> None:
    old = "".join(f"{line}\n" for line in range(MAX_COMPARED * 2))
    new = old.replace("\n", "!\n")
    assert git_patch("/a", old, new).count("@@ -") == 1
    assert git_patch("/a", "x" * MAX_CHANGED, "y" * MAX_CHANGED) == ""
    assert git_patch("/a", old * 1000, old * 1000 + "end\n").count("\n+") == 2


@needs_git
def test_a_change_far_inside_has_the_right_line_numbers(tmp_path: Path) -> None:
    old = "".join(f"{line}\n" for line in range(9999))
    new = old.replace("\n5000\n", "\nfive\nthousand\n").replace("\n5004\n", "\n")
    path = tmp_path / "file"
    patch = git_patch(str(path), old, new)
    assert "@@ -4998,11 +4998,11 @@" in patch
    assert applied(patch, path, old) == new

"""The files in which projects and people tell agents how to work."""

import os
from pathlib import Path

import pytest

from claw_acp.workspace.instruction_files import LONGEST, LONGEST_TOGETHER, instruction_files
from claw_acp.workspace.repository import folders_between, folders_down_to, repository_root


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "outer" / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "packages/web/src").mkdir(parents=True)
    return root


def texts(folder: Path, *own: Path) -> list[str]:
    return [file.text for file in instruction_files(folder, own=own)]


def test_they_come_from_the_person_then_from_the_root_of_the_repository_down_and_the_nearest_is_last(
    repository: Path, tmp_path: Path
) -> None:
    put(repository.parent / "AGENTS.md", "of no repository")
    for place, text in [("AGENTS.md", "root"), ("packages/CLAUDE.md", "middle"), ("packages/web/AGENTS.md", "near")]:
        put(repository / place, text)
    put(repository / "packages/web/CLAUDE.local.md", "mine")
    own = put(tmp_path / "config/USER.md", "person")
    assert texts(repository / "packages/web", own) == ["person", "root", "middle", "near", "mine"]


def test_without_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    put(tmp_path / "AGENTS.md", "above")
    put(tmp_path / "project/AGENTS.md", "project")
    assert texts(tmp_path / "project") == ["project"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_repository_that_somebody_else_made_above_a_folder_is_not_its_own(repository: Path) -> None:
    put(repository / "AGENTS.md", "a stranger's")
    os.chown(repository, 12345, 12345)
    assert repository_root(repository / "packages") == repository / "packages"
    assert texts(repository / "packages") == []


@pytest.mark.parametrize("how", ["link", "import", "copy"])
def test_the_same_text_is_sent_once(repository: Path, how: str) -> None:
    put(repository / "AGENTS.md", "Use tabs.")
    if how == "link":
        (repository / "CLAUDE.md").symlink_to("AGENTS.md")
    else:
        put(repository / "CLAUDE.md", "Use tabs.\n" if how == "copy" else "@AGENTS.md\n")
    assert sum("Use tabs." in text for text in texts(repository)) == 1


def test_of_too_much_the_farthest_is_left_out_first_and_it_says_so(repository: Path) -> None:
    folder = repository / "packages/web/src"
    for number, level in enumerate(folders_down_to(folder)):
        put(level / "AGENTS.md", str(number) * (LONGEST + 5))
    kept = texts(folder)
    assert [text[0] for text in kept] == ["[", "1", "2", "3"]
    assert "20,005 characters of" in kept[0]
    assert all("[cut: " in text for text in kept)
    assert sum(len(text.split("\n[cut")[0]) for text in kept[1:]) <= LONGEST_TOGETHER


def test_a_file_brings_in_what_it_imports(repository: Path) -> None:
    put(repository / "docs/style.md", "Use tabs.\nSee @more.md.")
    put(repository / "docs/more.md", "And LF.")
    put(repository / "AGENTS.md", "Style: @docs/style.md, please.\nAsk ada@example.org or @nobody.")
    (text,) = texts(repository)
    assert "please.\n[docs/style.md]\nUse tabs.\nSee @more.md.\n[more.md]\nAnd LF.\n[end of more.md]" in text
    assert text.endswith("[end of docs/style.md]\nAsk ada@example.org or @nobody.")


@pytest.mark.parametrize(
    "line",
    [
        "@../../secret.md", "@/etc/passwd", "`@docs/style.md`", "```\n@docs/style.md\n```",
        "~~~~\n@docs/style.md\n~~~~",
        "`` `@docs/style.md` ``", "    @docs/style.md", "@.env", "@config/.env", "@keys.json", "@.ssh/notes.md",
        "@AGENTS.md", "@link.md", "me@docs/style.md",
    ],
)  # fmt: skip
def test_what_is_code_or_outside_or_no_document_is_not_imported(repository: Path, line: str) -> None:
    put(repository.parent.parent / "secret.md", "SECRET")
    for place in ("docs/style.md", ".env", "config/.env", "keys.json", ".ssh/notes.md"):
        put(repository / place, "SECRET")
    (repository / "link.md").symlink_to("../../secret.md")
    put(repository / "AGENTS.md", f"First.\n{line}")
    assert texts(repository) == [f"First.\n{line}"]


def test_imports_end_after_four_hops_and_do_not_go_round(repository: Path) -> None:
    for number in range(9):
        put(repository / f"{number}.md", f"hop {number} @{number + 1}.md @0.md")
    put(repository / "AGENTS.md", "@0.md")
    (text,) = texts(repository)
    assert "hop 3" in text
    assert "hop 4" not in text
    assert text.count("hop 0") == 1


def test_words_of_packages_and_of_repositories_inside_are_not_the_projects(repository: Path) -> None:
    (repository / "vendor/tool/.git").mkdir(parents=True)
    assert folders_between(repository, repository / "packages/web") == [
        repository / "packages", repository / "packages/web",
    ]  # fmt: skip
    assert folders_between(repository, repository / "node_modules/evil") == []
    assert folders_between(repository, repository / "vendor/tool/src") == [repository / "vendor"]


@pytest.mark.parametrize(
    "line",
    [
        "x " + " ".join("`" * length for length in range(1, 390)),
        "x " + "`" * 40_000 + "a" * 40_000,
        "`a` " * 20_000,
        " ".join(f"@no{number}" for number in range(9_000)),
    ],
)
def test_no_line_takes_longer_to_read_than_to_send(repository: Path, line: str) -> None:
    put(repository / "AGENTS.md", f"@x\n{line}")
    assert texts(repository)[0].startswith("@x\n")


@pytest.mark.parametrize(
    ("line", "imports"),
    [
        ("`@a.md` and ``@a.md ` `` and @b.md", ["b.md"]),
        ("`` @a.md ` @b.md", ["a.md", "b.md"]),
        ("` @a.md `` @b.md ` @c.md", ["c.md"]),
    ],
)
def test_nothing_in_code_is_an_import(repository: Path, line: str, imports: list[str]) -> None:
    for name in ("a.md", "b.md", "c.md"):
        put(repository / name, f"text of {name}")
    put(repository / "AGENTS.md", line)
    assert [
        part.split("\n")[0] for part in texts(repository)[0].split("\n[")[1:] if "]" in part and "end" not in part
    ] == [f"{name}]" for name in imports]


@pytest.mark.parametrize("name", ["secret.md", "../secret.md", "./sub/../../secret.md", "link.md"])
def test_what_a_rule_hides_is_not_imported_either(repository: Path, name: str) -> None:
    secret = put(repository / "secret.md", "planted")
    (repository / "packages/link.md").symlink_to("../secret.md")
    put(repository / "AGENTS.md", "@secret.md")
    put(repository / "packages/AGENTS.md", f"Look: @{name}")
    found = instruction_files(repository / "packages", may_read=lambda path: path != secret)
    assert "planted" not in str(found)
    assert len(found) == 2


def test_a_link_that_is_swapped_after_it_was_judged_brings_in_nothing_else(repository: Path) -> None:
    secret, link = put(repository / "keys.json", "planted"), repository / "link.md"
    link.symlink_to(put(repository / "notes.md", "as judged").name)
    put(repository / "AGENTS.md", "@link.md")

    def may_read(path: Path) -> bool:
        if path.name == "notes.md":
            link.unlink()
            link.symlink_to(secret.name)
        return path != secret

    (found,) = instruction_files(repository, may_read=may_read)
    assert found.text == "@link.md\n[link.md]\nas judged\n[end of link.md]"

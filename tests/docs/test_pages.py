"""What holds for every page: links lead somewhere, and nothing in the repository names a machine of ours."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, blocks, links, prose_of, pyproject, text_of

REGISTRIES = tuple(f"{name}.{end}" for name, end in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org")))
CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_relative_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    for link in links(page):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_lines_fit_an_editor_and_blocks_say_their_language(page: Path) -> None:
    assert not [line for line in prose_of(page).splitlines() if len(line) > 120 and not line.startswith("|")]
    assert not blocks("", page)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_pages_show_nobodys_home_directory(page: Path) -> None:
    assert set(re.findall(r"/(?:home|Users)/(\w+)", text_of(page))) <= {"you"}


def test_no_tracked_file_names_a_package_registry_or_this_checkout() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("needs a git checkout")
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    telling = (*REGISTRIES, *([f"{ROOT}/"] if len(ROOT.parts) > 2 else []))
    for path in (ROOT / name for name in listed.split("\0") if name):
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        assert not [word for word in telling if word in text], path


def test_the_changelog_tells_what_is_unreleased_in_the_usual_sections() -> None:
    text = text_of(ROOT / "CHANGELOG.md")
    assert "\n## [Unreleased]\n" in text
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= CHANGES


def test_every_decision_is_in_the_index_and_has_its_four_parts() -> None:
    folder = ROOT / ".github" / "decisions"
    records = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    assert list(links(folder / "README.md")) == [path.name for path in records]
    for record in records:
        headings = re.findall(r"^## (.+)$", text_of(record), re.MULTILINE)
        assert headings == ["Context", "Choice", "Cost", "When to revisit"], record.name
        assert text_of(record).startswith(f"# {record.name[:4]} "), record.name


def test_files_and_folders_that_pages_name_exist() -> None:
    named = re.compile(r"`((?:claw_acp/|tests/|editor-clients/|core/|session/|schema/|rpc/|acp/)[\w./-]*(?:/|\.\w+))`")
    for page in PAGES:
        for name in named.findall(prose_of(page)):
            assert (ROOT / name).exists() or (ROOT / "claw_acp" / name).exists(), f"{page.name}: {name}"


def test_the_workflow_runs_the_ci_entry_on_every_version_we_claim() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    claimed = re.findall(r"Python :: (3\.\d+)", " ".join(pyproject()["project"]["classifiers"]))
    assert re.findall(r'"(3\.\d+)"', workflow) == claimed
    assert "- run: .ci/run python\n" in workflow
    entry = ROOT / ".ci" / "run"
    assert f"newest={claimed[-1]}\n" in entry.read_text(encoding="utf-8")
    assert all(script.stat().st_mode & 0o111 for script in (entry, entry.with_name("newest-python")))

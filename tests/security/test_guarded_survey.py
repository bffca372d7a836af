"""What is noticed after a command that could change the project."""

from pathlib import Path

from claw_acp.security.guarded_survey import MOST_ENTRIES, changes, survey


def planted(folder: Path) -> set[Path]:
    """Change what other programs run, in a folder with a repository."""
    hook = folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    (folder / ".mcp.json").write_text("{}")
    return {hook, folder / ".mcp.json"}


def test_what_a_command_plants_is_noticed_among_thousands_of_files(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    for folder in (tmp_path, inner):
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    before = survey([tmp_path])
    wanted = planted(tmp_path) | planted(inner)
    for folder in (tmp_path, tmp_path / "a"):
        for number in range(MOST_ENTRIES):
            (folder / f"m{number}").mkdir()
    assert {change.path for change in changes(before, survey([tmp_path], known=before))} == wanted

"""`claw-acp cron` as people use it, without a hub."""

from pathlib import Path

import pytest

from claw_acp.cli.main import main


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    return tmp_path


def _cron(*arguments: str) -> int:
    return main(["cron", *arguments])


def test_a_job_is_added_listed_paused_resumed_and_removed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _cron("add", "nightly", "--cron", "0 2 * * *", "--tz", "Europe/Berlin", "--prompt", "test") == 0
    added = capsys.readouterr()
    assert added.out.startswith("nightly: runs next at ")
    assert "claw-acp serve" in added.err
    assert _cron("list") == 0
    heading, row = capsys.readouterr().out.splitlines()
    assert heading.split()[0] == "JOB"
    assert "0 2 * * * (Europe/Berlin)" in row
    assert str(project) in row
    assert _cron("pause", "nightly") == 0
    assert _cron("show", "nightly") == 0
    assert "paused" in capsys.readouterr().out
    assert _cron("resume", "nightly") == 0
    assert "runs next at" in capsys.readouterr().out
    assert _cron("remove", "nightly") == 0
    assert _cron("list") == 0
    assert "there are no jobs" in capsys.readouterr().out


def test_the_next_times_are_those_of_the_zone_of_the_job(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _cron("add", "noon", "--cron", "0 12 * * *", "--tz", "Asia/Tokyo", "--prompt", "x")
    capsys.readouterr()
    assert _cron("next", "noon", "-n", "3") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2:] for line in lines] == [["12:00", "JST"]] * 3


def test_a_reminder_is_named_by_its_words(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert _cron("add", "--at", "+2m", "--prompt", "Remind me of the tea!") == 0
    names = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["remind-me-of-the", "remind-me-of-the-2"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["add", "x", "--cron", "0 2 * * 5-1", "--prompt", "x"], "runs backwards"),
        (["add", "x", "--at", "2001-01-01 00:00", "--prompt", "x"], "that moment has passed"),
        (["add", "x", "--every", "10s", "--prompt", "x"], "1m is the shortest period"),
        (["add", "x", "--every", "1h", "--tz", "Mars", "--prompt", "x"], "no time zone"),
        (["add", "x", "--every", "1h", "--prompt", "x", "--session", "ses_none"], 'there is no session "ses_none"'),
        (["add", "x", "--every", "1h", "--prompt", "x", "--deliver", "session:none"], 'there is no session "none"'),
        (["show", "nigthly"], 'there is no job "nigthly"; did you mean "nightly"?'),
        (["remove", "nightly"], "schedules.toml; remove it there"),
        (["run", "nightly"], "claw-acp serve"),
        (["list"], "schedules.toml:6: jobs.wrong.every: 'now' is no duration"),
    ],
)
def test_what_does_not_work_is_explained(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    home = project / "home"
    home.mkdir()
    monkeypatch.setenv("CLAW_ACP_HOME", str(home))
    good = '[jobs.nightly]\ncron = "0 2 * * *"\ncwd = "/"\nprompt = "x"\n'
    (home / "schedules.toml").write_text(f'{good}[jobs.wrong]\nevery = "now"\ncwd = "/"\nprompt = "x"\n')
    assert _cron(*arguments) == (0 if arguments == ["list"] else 1)
    assert told in capsys.readouterr().err


def test_a_tool_that_does_not_exist_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _cron("add", "x", "--every", "1h", "--prompt", "x", "--tools", "read_file, gerp")
    assert 'there is no tool "gerp"; did you mean "grep"?' in capsys.readouterr().err


def test_a_job_works_in_a_directory_that_exists(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _cron("add", "x", "--every", "1h", "--prompt", "x", "--cwd", "nowhere")
    assert "nowhere is not a directory" in capsys.readouterr().err

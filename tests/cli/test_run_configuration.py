"""`claw-acp run` and what is wrong with the configuration: each thing is said once, and what is broken stops it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import claw

PLAY = '[providers.play]\nkind = "scripted"\nmodels = ["m", "n"]\nscript = "s.json"\n'


class Home:
    """A home with a scripted model that says "hello"."""

    def __init__(self, place: Path) -> None:
        self.place = place
        (place / "s.json").write_text('{"turns": [{"steps": [{"text": "hello"}]}]}')

    def run(self, config: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (self.place / "config.toml").write_text(config)
        environ = {"CLAW_ACP_HOME": str(self.place)}
        return claw("run", "hi", "--cwd", str(self.place), *arguments, home=self.place, environ=environ)


@pytest.fixture
def own(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_file_that_is_no_toml_stops_it(own: Home) -> None:
    done = own.run('model = "play/m"\n[providers\n')
    assert (done.returncode, done.stdout) == (2, "")
    assert f"claw-acp run: {own.place / 'config.toml'}:2:11: not TOML" in done.stderr


def test_a_finding_is_said_once(own: Home) -> None:
    done = own.run(f'modell = "x"\n{PLAY}')
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr.count("modell: unknown key") == 1


def test_a_finding_is_said_to_programs_once_as_a_notice(own: Home) -> None:
    done = own.run(f'model = "play/m"\nmodell = "x"\n{PLAY}', "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("modell: unknown key") == 1
    session = json.loads(done.stdout.splitlines()[-1])["sessionId"]
    again = own.run(f'model = "play/m"\nmodell = "x"\n{PLAY}', "--json", "--session", session)
    assert (again.stdout + again.stderr).count("modell: unknown key") == 1
    nowhere = own.run(f'model = "play/m"\nmodell = "x"\n{PLAY}', "--json", "--session", "ses_nowhere")
    assert (nowhere.returncode, nowhere.stderr.count("modell: unknown key")) == (1, 1)
    assert "there is no session" in json.loads(nowhere.stdout)["error"]["message"]


def test_a_model_that_was_asked_for_needs_no_other_and_announces_none(own: Home) -> None:
    done = own.run(PLAY, "--model", "play/m")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "offline assistant" not in done.stderr
    done = own.run(f'model = "nobody/x"\n{PLAY}', "--model", "play/m")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "nobody" not in done.stderr


def test_a_finding_is_said_even_when_there_is_no_session(own: Home) -> None:
    done = own.run(f'model = "nobody/x"\nmodell = "x"\n{PLAY}')
    assert done.returncode == 1
    assert done.stderr.count("modell: unknown key") == 1


def test_a_provider_with_a_wrong_value_is_not_asked(own: Home) -> None:
    done = own.run(f'{PLAY}body = "x"\n', "--model", "play/m")
    assert (done.returncode, done.stdout) == (1, "")
    assert "claw-acp run: body in [providers.play] is wrong" in done.stderr


def test_a_rule_that_leads_nowhere_stops_nobody(own: Home) -> None:
    rules = 'model = "hint:auto"\n[routes]\nfast = "play/m"\n[[rules]]\nroute = "fasst"\n'
    done = own.run(rules + PLAY)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert 'config.toml:5: rules.route: there is no route "fasst", so the rule is left out; did you mean "fast"?' in (
        done.stderr
    )


def test_a_route_that_there_is_not_is_told_as_such(own: Home) -> None:
    done = own.run(f'[routes]\nfast = "play/m"\n{PLAY}', "--model", "hint:nothing")
    assert 'there is no route "nothing"; there are fast' in done.stderr


def test_the_name_of_a_provider_means_its_first_model(own: Home) -> None:
    done = own.run(f'model = "offline/assistant"\n{PLAY}', "--model", "play", "--json")
    assert done.returncode == 0, done
    assert '"currentValue": "play/m"' in done.stdout
    assert "hello" in done.stdout


def test_a_budget_is_named_with_its_digits_and_the_question_is_not_repeated(own: Home) -> None:
    prices = '[prices."play/m"]\ninput = 3\noutput = 15\n[budget]\ndaily = 0.00001\n'
    done = own.run(f'model = "play/m"\n{PLAY}{prices}')
    assert done.returncode == 1
    assert "of $0.00001 was spent today" in done.stderr
    assert done.stderr.count("The next model request") == 1
    assert done.stderr.count("Stopped before the daily budget was passed") == 1

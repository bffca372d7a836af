"""What cannot be used of a provider: what decides what is run or asked makes it unusable, the rest is only left out."""

import pytest

from tests.config.support import Desk, texts

PROGRAM = '[providers.mine]\nkind = "binary"\ncommand = "sh"\n'


@pytest.mark.parametrize(
    "line",
    [
        'args = "-f /x"',
        'protocol = "sesion"',
        "command = 3",
        "env = 3",
        "env = {A = 1}",
        "headers = {A = 1}",
        "quirks = {auth = 1}",
        'quirks = {pth = "/x"}',
        'base_url = "here"',
        "api_keys = [1]",
        'body = "x"',
        'proxy = "x"',
        "ca_file = 1",
        "replay = 1",
        "cwd = ''",
        'arg = ["-f"]',
    ],
)
def test_a_provider_is_not_used_when_what_decides_about_it_is_wrong(desk: Desk, line: str) -> None:
    desk.user_says(f'[providers.mine]\nkind = "binary"\n{line}\n[providers.other]\nkind = "binary"\n')
    settings = desk.settings()
    assert list(settings.invalid) == ["mine"]
    assert settings.invalid["mine"] in settings.diagnostics
    assert settings.invalid["mine"].line == 3


@pytest.mark.parametrize("line", ["timeout = -1", "models = 3", "options = {top_p = 9}", "retries = 99", "zzz = 1"])
def test_a_provider_is_used_without_what_only_tunes_it(desk: Desk, line: str) -> None:
    desk.user_says(PROGRAM + line)
    settings = desk.settings()
    assert len(settings.diagnostics) == 1
    assert not settings.invalid


def test_a_table_that_is_none_is_no_provider_of_that_name(desk: Desk) -> None:
    desk.user_says("[providers]\nopenai = 3\n")
    assert list(desk.settings().invalid) == ["openai"]


def test_a_provider_is_spoilt_by_the_thousandth_defect_as_well(desk: Desk) -> None:
    lines = "\n".join(f"k{number} = 1" for number in range(1000))
    desk.user_says(f"{lines}\n{PROGRAM}args = 3\n")
    assert list(desk.settings().invalid) == ["mine"]


def test_a_projects_file_spoils_nothing_of_the_users(desk: Desk) -> None:
    desk.user_says(PROGRAM)
    desk.project_says("[providers.mine]\nargs = 3\n")
    settings = desk.settings()
    assert settings.diagnostics
    assert not settings.invalid


def test_what_must_be_a_list_is_said_with_an_example(desk: Desk) -> None:
    desk.user_says(f'{PROGRAM}args = "-f /x"\n')
    assert texts(desk.settings()) == ['config.toml:4: providers.mine.args: must be a list of texts, as in ["-f", "x"]']


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("limits = 3", "must be a table of keys and values"),
        ("providers.a = 3", "must be a table of keys and values"),
        ("rules = 3", "must be tables, each begun by a line [[rules]]"),
        ('protocol_2 = "yes"', "must be true or false"),
        ('model = ""', "must not be empty"),
        ('[budget]\nwarn = "x"', "must be a number"),
        ("[budget]\nwarn = 0", "must be more than 0"),
        ("[budget]\nwarn = 2", "must be at most 1"),
        ("[providers.a.options]\nmax_tokens = 99999999", "must be at most 10,000,000"),
        ("[[rules]]\nkeywords = []", "is missing"),
    ],
)
def test_what_is_wrong_is_said_in_words_of_people(desk: Desk, text: str, words: str) -> None:
    desk.user_says(text)
    (found,) = desk.settings().diagnostics
    assert found.message == words


RULES = """\
[routes]
fast = "offline/assistant"
[[rules]]
route = 3
[[rules]]
route = "fast"
[[rules]]
keywords = ["x"]
route = "fasst"
[[rules]]
route = "fast"
"""


def test_a_rule_to_no_route_is_left_out_and_named_by_its_line(desk: Desk) -> None:
    desk.user_says(RULES)
    settings = desk.settings()
    assert [rule.route for rule in settings.rules] == ["fast", "fast"]
    assert [(found.line, found.suggestion) for found in settings.diagnostics] == [
        (4, None),
        (9, 'did you mean "fast"?'),
    ]

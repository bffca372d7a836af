"""Broken configuration: every defect is named with its line, and the rest applies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.config.checking import check
from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.model import ConfigFile
from claw_acp.config.toml_file import FILE_LIMIT, TomlDocument, parse_toml
from tests.config.support import Desk, texts

NOT_AN_ADDRESS = "must be an address with http:// or https://, as in http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ('modell = "a/b"', 'config.toml:1: modell: unknown key; did you mean "model"?'),
        ("\n# note\nxyzzy = 1", "config.toml:3: xyzzy: unknown key"),
        ('api_key = "sk-x"', "config.toml:1: api_key: unknown key; it belongs in [providers.NAME]"),
        (
            "[limits]\nmax_requests = 5",
            'config.toml:2: limits.max_requests: unknown key; did you mean "max_turn_requests"?',
        ),
        ('mode = "aks"', 'config.toml:1: mode: must be one of plan, ask, edit, auto; did you mean "ask"?'),
        ("model = 3", 'config.toml:1: model: must be text in quotes, as in "text"'),
        ("providers = 3", "config.toml:1: providers: must be a table of keys and values"),
        (
            "[providers.a]\noptions = {max_tokens = true}",
            "config.toml:2: providers.a.options.max_tokens: must be a whole number",
        ),
        (
            "[providers.a]\ntimeout = nan",
            "config.toml:2: providers.a.timeout: must be a finite number",
        ),
        (
            "[limits]\nmax_turn_requests = 0",
            "config.toml:2: limits.max_turn_requests: must be at least 1",
        ),
        (
            '[providers."a/b"]',
            "config.toml:1: providers.a/b: a provider's name is made of letters, digits, dots, dashes and underscores",
        ),
        (
            '[providers.a]\napi_key = "keyring: "',
            "config.toml:2: providers.a.api_key: keyring: needs the name of an entry, as in keyring:openai",
        ),
        (
            '[providers.a]\nbase_url = "localhost:8080"',
            f"config.toml:2: providers.a.base_url: {NOT_AN_ADDRESS}",
        ),
        (
            "[permissions]\ndeny = [\n 'x',\n 3]",
            'config.toml:2: permissions.deny: must be text in quotes, as in "text"',
        ),
        ("mode = \n", "config.toml:1:8: not TOML: Invalid value; the file is ignored"),
        ("a = 1\na = 2", "config.toml:2: not TOML: Cannot overwrite a value; the file is ignored"),
        ('a = "', "config.toml:1: not TOML: Unterminated string; the file is ignored"),
        ("a = " + "[" * 5000, "config.toml: values are nested too deeply; the file is ignored"),
        ("x = 1\n" + "a." * 5000 + "b = 1", "config.toml:2: a name has more than 32 parts; the file is ignored"),
    ],
)
def test_a_defect_is_named_with_its_place_and_what_to_write(desk: Desk, text: str, finding: str) -> None:
    desk.user_says(text)
    assert texts(desk.settings()) == [finding]


def test_text_that_is_not_utf8_is_named_with_its_line(desk: Desk) -> None:
    desk.user_says(b'mode = "ask"\nmodel = "\xff"\n')
    assert texts(desk.settings()) == ["config.toml:2: is not UTF-8 text; the file is ignored"]


def test_an_enormous_file_is_ignored(desk: Desk) -> None:
    desk.user_says("#" * (FILE_LIMIT + 1))
    assert texts(desk.settings()) == ["config.toml: is larger than 64 KiB; it is ignored"]


def test_a_number_python_cannot_convert_is_a_diagnostic(desk: Desk) -> None:
    desk.user_says("a = " + "9" * 5000)
    assert [found.severity for found in desk.settings().diagnostics] == ["error"]


def test_the_valid_parts_of_a_file_with_defects_apply(desk: Desk) -> None:
    desk.user_says(
        'mode = "nonsense"\nmodel = "a/b"\n[permissions]\ndeny = ["x", 1, "y", 2]\n'
        "[providers.a]\ntimeout = -1\nmodels = ['m']\n"
    )
    settings = desk.settings()
    assert (settings.mode, settings.model, settings.permissions.deny) == ("ask", "a/b", ("x", "y"))
    assert (settings.providers["a"].timeout, settings.providers["a"].models) == (None, ("m",))
    assert [(found.key, found.line) for found in settings.diagnostics] == [
        ("mode", 1),
        ("permissions.deny", 4),
        ("permissions.deny", 4),
        ("providers.a.timeout", 6),
    ]


def test_a_wrong_key_is_never_quoted(desk: Desk) -> None:
    desk.user_says('[providers.a]\napi_key = ["sk-secret"]\nbase_url = "sk-secret"\n')
    assert not any("secret" in text for text in texts(desk.settings()))


def test_thousands_of_defects_are_summed_up(desk: Desk) -> None:
    desk.user_says("\n".join(f"k{number} = 1" for number in range(5000)))
    found = texts(desk.settings())
    assert len(found) == 51
    assert found[-1] == "config.toml: 4950 more problems not shown"


def test_windows_line_ends_and_a_byte_order_mark_are_no_defects(desk: Desk) -> None:
    desk.user_says('\ufeffmodel = "a/b"\r\n\r\nmode = "plan"\r\n'.encode())
    settings = desk.settings()
    assert (settings.model, settings.mode, settings.diagnostics) == ("a/b", "plan", ())
    assert settings.origin("mode").place.endswith(":3")


words = st.sampled_from(
    [
        "model",
        "mode",
        "providers",
        "options",
        "limits",
        "permissions",
        "deny",
        "max_tokens",
        "a.b",
        '"x y"',
        "''",
        "kind",
    ]
)
values = st.sampled_from(
    ["1", "true", '"ask"', "[1, 'x']", "{a = 1}", "nan", '"""\n"""', "1979-05-27", "[[], [{}]]", "-0.0", "{}", "[\n]"]
)
statements = st.one_of(
    st.builds("[{}]".format, words),
    st.builds("[[{}]]".format, words),
    st.builds("[{}.{}]".format, words, words),
    st.builds("{} = {}".format, words, values),
    st.builds("{}.{} = {}".format, words, words, values),
    st.text(max_size=20),
)


def examine(octets: bytes) -> None:
    document = parse_toml(octets, file="config.toml")
    if isinstance(document, Diagnostic):
        assert document.text()
        return
    assert isinstance(document, TomlDocument)
    checked = check(document)
    config, mistakes = checked.config, checked.diagnostics
    assert isinstance(config, ConfigFile)
    lines = octets.count(b"\n") + 1
    assert all(mistake.line is None or 1 <= mistake.line <= lines for mistake in mistakes)
    assert all(mistake.text() for mistake in mistakes)


@given(st.binary(max_size=200))
def test_any_bytes_are_settings_or_diagnostics_never_an_exception(octets: bytes) -> None:
    examine(octets)


@given(st.lists(statements, max_size=8).map("\n".join))
def test_any_near_miss_of_a_file_is_settings_or_diagnostics_never_an_exception(text: str) -> None:
    examine(text.encode("utf-8", "surrogatepass"))

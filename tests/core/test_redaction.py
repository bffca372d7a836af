"""Redaction, measured on a corpus of made-up secrets and of ordinary text."""

import base64
import hashlib
import string
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.redaction import REDACTED, Redactor, redact


def made_up(length: int, *, alphabet: str = string.ascii_letters + string.digits, seed: str = "seed") -> str:
    """Random-looking text, the same in every run."""
    digest = b"".join(hashlib.sha512(f"{seed}{n}".encode()).digest() for n in range(length // 64 + 1))
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:length])


A, HEX, UPPER = made_up, string.hexdigits[:16], string.ascii_uppercase + string.digits
PEM_BODY = "\n".join(made_up(64, seed=str(n)) for n in range(4))
JWT = ".".join(("ey" + "J" + made_up(20, seed="h"), "ey" + "J" + made_up(60, seed="p"), made_up(43, seed="s")))

# (the text around it, the secret): assembled here so that no scanner takes this file for a leak
SECRETS: dict[str, tuple[str, str]] = {
    "openai": ("key is {}", "sk" + "-" + A(48)),
    "openai project": ("OPENAI={}\n", "sk" + "-proj-" + A(80)),
    "anthropic": ("{}", "sk" + "-ant-api03-" + A(90)),
    "openrouter": ("using {} now", "sk" + "-or-v1-" + A(64, alphabet=HEX)),
    "github classic": ("git clone with {}", "gh" + "p_" + A(36)),
    "github app": ("{}", "gh" + "s_" + A(36)),
    "github fine-grained": ("({})", "github" + "_pat_" + A(22) + "_" + A(59)),
    "gitlab": ("token {}", "gl" + "pat-" + A(20)),
    "slack bot": ("{}", "xo" + "xb-" + A(12, alphabet="0123456789") + "-" + A(24)),
    "slack hook": ("https://hooks." + "slack.com/services/{}", "T" + A(8) + "/B" + A(8) + "/" + A(24)),
    "aws id": ("aws_id {}", "AK" + "IA" + A(16, alphabet=UPPER)),
    "aws secret": ("aws_secret_access_key = {}", A(40)),
    "google": ("?key={}", "AI" + "za" + A(35)),
    "google oauth": ("{}", "ya" + "29." + A(60)),
    "stripe": ("{}", "sk" + "_live_" + A(24)),
    "npm": ("//registry/:_authToken={}", "np" + "m_" + A(36)),
    "pypi": ("{}", "py" + "pi-" + A(80)),
    "telegram": ("bot {}", A(9, alphabet="123456789") + ":A" + "A" + A(33)),
    "hugging face": ("{}", "h" + "f_" + A(34)),
    "groq": ("{}", "gs" + "k_" + A(52)),
    "sendgrid": ("{}", "S" + "G." + A(22) + "." + A(43)),
    "jwt": ("cookie: session={}", JWT),
    "bearer": ("Authorization: Bearer {}", A(40)),
    "basic": ("authorization: Basic {}", base64.b64encode(b"ada:" + A(20).encode()).decode()),
    "json header": ('{{"Authorization": "Bearer {}"}}', A(32)),
    "x-api-key": ("x-api-key: {}", A(32)),
    "postgres": ("postgres://ada:{}@db.internal:5432/app", "Tr0ub4dor-" + A(6)),
    "redis": ("redis://:{}@cache:6379/0", A(24)),
    "password yaml": ("password: {}", "h7Kq-" + A(12)),
    "password quoted": ('password = "{}"', "c0rrect!horse#Battery"),
    "env file": ("DB_PASSWORD={}\nDEBUG=1", A(16)),
    "client secret": ('"client_secret": "{}",', A(32)),
    "export": ("export SERVICE_API_KEY={}", A(32)),
    "token colon": ("token: {}", A(40, alphabet=HEX)),
}

ORDINARY: dict[str, str] = {
    "prose": "The password is stored in the keyring; see the token section. Secrets: none so far.",
    "code": "def check(password: str, token: Token) -> bool:\n    return password == settings.password and token.value",
    "call": "token = tokenizer.next_token()\nsecret = get_secret_value(name='database')\npassword = getpass.getpass()",
    "typescript": "const apiKey = process.env.API_KEY;\nconst accessToken: string = props.accessToken;",
    "placeholder": "API_KEY=your-api-key\npassword: changeme123\nsecret=<your secret>\ntoken: ${TOKEN}\nkey: xxxxx1",
    "sha256": f"sha256:{hashlib.sha256(b'a').hexdigest()}  dist/a.tar.gz",
    "git log": f"commit {hashlib.sha1(b'c').hexdigest()}\nAuthor: Ada <ada@example.org>\nDate: Mon",
    "uuid": f"id: {uuid.UUID(int=2**127 + 12345)}",
    "image": f"![x](data:image/png;base64,{base64.b64encode(hashlib.sha512(b'i').digest() * 3).decode()})",
    "package-lock": f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(b"p").digest()).decode()}",',
    "uv.lock": f'sdist = {{ hash = "sha256:{hashlib.sha256(b"u").hexdigest()}" }}',
    "cargo.lock": f'checksum = "{hashlib.sha256(b"k").hexdigest()}"',
    "urls": "see https://user@example.org/path and ssh://git@github.com:22/x.git, http://localhost:8080/@scope/pkg",
    "dsn template": "postgres://user:${DB_PASSWORD}@localhost/app and mysql://root:***@db/app",
    "scikit": "pip install sk-learn-contrib-with-a-long-name-of-words and task-runner-for-all",
    "pem code": 'if text.startswith("-----BEGIN PRIVATE KEY-----"):\n    return load(text)\n# the rest stays as it is',
    "public pem": "-----BEGIN PUBLIC KEY-----\n" + PEM_BODY + "\n-----END PUBLIC KEY-----",
    "public ssh": "ssh-ed25519 " + "AAAAC3NzaC1lZDI1NTE5AAAAI" + A(43, seed="public") + " ada@laptop",
    "keys": "primary_key=True, foreign_key=user.identifier, sort_key: created_at, keyboard: qwertz-layout",
    "tokens": "max_tokens=16000 input_tokens: 12345678 output_tokens=12345678 tokens_used: 123456789012",
    "css": ".password-input::placeholder { color: red }  .token.keyword { font-weight: bold }",
    "shell": 'curl -H "Authorization: Bearer $TOKEN" https://api.example.org; PASSWORD=$(cat /run/secrets/db)',
    "python types": "api_key: Secret | None = None\nsecret_key: str = Field(default_factory=new)\ntoken: str = ''",
    "config": 'api_key = "env:ANTHROPIC_API_KEY"\napi_key = "keyring:anthropic"\ntoken_file = "/run/secrets/token"',
    "html": '<input type="password" name="password" id="password-field" autocomplete="current-password">',
    "markdown": "| token | description |\n|---|---|\n| `secret` | the *client secret* of your app |",
    "identifiers": "eyJust a word, AIzac Newton, ghp_short, xoxo-hugs, npm_config_registry, hf_hub_download, SG.1",
    "time": "12345678:AAAA is not long enough; 2024-01-01T00:00:00Z key=2024-01-01",
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_does_not_survive(name: str) -> None:
    around, secret = SECRETS[name]
    cleaned = redact(around.format(secret))
    assert REDACTED in cleaned
    assert secret not in cleaned
    assert secret[8:] not in cleaned


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_text_comes_back_untouched(name: str) -> None:
    assert redact(ORDINARY[name]) == ORDINARY[name]


def test_the_corpus_has_neither_misses_nor_false_alarms() -> None:
    misses = [name for name, (around, secret) in SECRETS.items() if secret[8:] in redact(around.format(secret))]
    alarms = [name for name, text in ORDINARY.items() if redact(text) != text]
    assert (misses, alarms) == ([], [])


def test_all_of_it_in_one_text_is_found_too() -> None:
    cleaned = redact("\n".join((*ORDINARY.values(), *(around.format(secret) for around, secret in SECRETS.values()))))
    assert [name for name, (_, secret) in SECRETS.items() if secret[8:] in cleaned] == []
    assert all(text in cleaned for text in ORDINARY.values())


@pytest.mark.parametrize("kind", ["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("line_end", ["\n", "\\n"])
def test_the_body_of_a_private_key_goes_and_its_frame_stays(kind: str, line_end: str) -> None:
    begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    body = PEM_BODY.replace("\n", line_end)
    cleaned = redact(f"before\n{begin}{line_end}{body}{line_end}{end}\nafter")
    assert begin in cleaned
    assert cleaned.endswith("after")
    assert PEM_BODY.split("\n", maxsplit=1)[0] not in cleaned


def test_the_beginning_stays_so_that_a_person_can_tell_which_key_it_was() -> None:
    assert redact("sk" + "-" + A(48)) == f"sk-{A(48)[0]}{REDACTED}"


def test_redacting_twice_changes_nothing_more() -> None:
    once = redact("\n".join(around.format(secret) for around, secret in SECRETS.values()))
    assert redact(once) == once


def test_text_without_candidates_is_returned_as_it_is() -> None:
    text = "nothing to see here " * 1000
    assert redact(text) is text


def test_known_secrets_go_wherever_they_appear_and_short_ones_are_left_alone() -> None:
    clean = Redactor(["plain words as key", "plain words", "abc", ""])
    assert clean("x plain words as key y abc") == f"x plai{REDACTED} y abc"


def test_a_known_secret_inside_a_longer_one_does_not_shield_it() -> None:
    clean = Redactor(["abcdefgh", "abcdefgh-ijklmnop"])
    assert clean("(abcdefgh-ijklmnop)") == f"(abcd{REDACTED})"


@given(st.text(alphabet=string.ascii_lowercase + " .,;\n", max_size=300))
def test_lower_case_prose_is_never_changed(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=400))
def test_no_text_whatsoever_makes_it_fail(text: str) -> None:
    redact(text)

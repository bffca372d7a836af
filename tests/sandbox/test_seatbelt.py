"""The rules for the sandbox of macOS, which runs nowhere else: only what they say is tested here."""

from pathlib import Path

from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.sandbox.seatbelt import seatbelt_rules

ROOT = Path('/Users/a/my "project"')
PROFILE = SandboxProfile(writable=(ROOT,), read_only=(ROOT / ".git" / "hooks",), unreadable=(Path("/Users/a/.ssh"),))


def test_what_is_guarded_and_hidden_comes_after_what_is_allowed() -> None:
    lines = seatbelt_rules(PROFILE, temporary=Path("/private/tmp/own")).splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert lines[-4:] == [
        r'(allow file-write* (subpath "/Users/a/my \"project\"") (subpath "/private/tmp/own"))',
        r'(deny file-write* (subpath "/Users/a/my \"project\"/.git/hooks"))',
        r'(deny file-write-unlink (literal "/Users/a/my \"project\"") (literal "/Users/a/my \"project\"/.git"))',
        '(deny file-read* file-write* (subpath "/Users/a/.ssh"))',
    ]


def test_the_network_is_closed_unless_it_is_open() -> None:
    closed = seatbelt_rules(PROFILE, temporary=Path("/private/tmp/own"))
    opened = seatbelt_rules(SandboxProfile(network="open"), temporary=Path("/private/tmp/own"))
    assert ("network" in closed, "(allow network-outbound (remote ip))" in opened) == (False, True)

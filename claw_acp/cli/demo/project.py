"""The sample project of the demo: a small package whose test fails."""

from collections.abc import Mapping
from pathlib import Path

FILES: Mapping[str, str] = {
    "README.md": "# greeter\n\nSays hello to people, one at a time.\n",
    "greeter/__init__.py": '"""Greets people."""\n',
    "greeter/greet.py": '''\
"""The words of a greeting."""


def greet(name: str) -> str:
    """A greeting for one person."""
    return f"Helo, {name}!"
''',
    "tests/__init__.py": "",
    "tests/test_greet.py": """\
import unittest

from greeter.greet import greet


class GreetingTest(unittest.TestCase):
    def test_a_person_is_greeted_by_name(self) -> None:
        self.assertEqual(greet("Ada"), "Hello, Ada!")
""",
}
TEST_ARGUMENTS = ("-m", "unittest")
PROMPT = "Fix the failing test: run `python3 -m unittest`, find the cause, repair it, and run the test again."


def create(folder: Path) -> None:
    """Write the project into `folder`."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

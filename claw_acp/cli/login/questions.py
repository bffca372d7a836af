"""Terminal questions of `claw-acp login`.

`EOFError` and `KeyboardInterrupt` are left to the caller: nothing is stored.
"""

import re
from collections.abc import Mapping, Sequence
from getpass import getpass

from claw_acp.cli.terminal.paint import columns
from claw_acp.config.fields import PROVIDER_NAME
from claw_acp.core.printable import printable
from claw_acp.core.secret import Secret
from claw_acp.providers.registry.overview import ProviderState
from claw_acp.providers.registry.profiles import ProviderProfile

ANOTHER = "+"
FIRST = 12
"""The number of services that are always listed."""


def choose_provider(every: Mapping[str, ProviderProfile], states: Sequence[ProviderState]) -> ProviderProfile | None:
    """The chosen profile; the first ones and those in use are listed. None for a service that is not among them."""
    known = {state.name: state for state in states}
    used = {state.name for state in states if state.ready or state.configured}
    profiles = [profile for number, profile in enumerate(every.values()) if number < FIRST or profile.name in used]
    rows = [
        (str(number), profile.name, _state(known[profile.name])) for number, profile in enumerate(profiles, start=1)
    ]
    rows.append((ANOTHER, "another", "any service that speaks the API of OpenAI or Anthropic"))
    print("\nWhich model provider do you want to use?\n")
    for line in columns(rows):
        print(f"  {line}")
    if others := len(every) - len(profiles):
        print(f"\nor one of {others} others by its name: `claw-acp providers list` shows them")
    while True:
        answer = input("\nNumber or name [1]: ").strip() or "1"
        if answer in {ANOTHER, "another"}:
            return None
        if answer in every:
            return every[answer]
        chosen = [profile for number, profile in enumerate(profiles, start=1) if answer in {str(number), profile.name}]
        if chosen:
            return chosen[0]
        print(f"There is no {printable(answer)!r} in the list.")


def ask_name(taken: Sequence[str]) -> str:
    """Ask for the name of a service of the user's own."""
    while True:
        name = input("A name for it, as in work: ").strip()
        if name in taken:
            print(f"{name} is a provider already.")
        elif re.match(PROVIDER_NAME, name):
            return name
        else:
            print("A name is made of letters, digits, dots, dashes and underscores.")


def ask_address() -> str:
    """Ask for its address."""
    return input("Its address, as in http://127.0.0.1:8080/v1: ").strip()


def ask_kind(kinds: Sequence[str]) -> str:
    """Ask for its API."""
    while True:
        kind = input(f"The API it speaks ({' or '.join(kinds)}) [{kinds[0]}]: ").strip().lower() or kinds[0]
        if kind in kinds:
            return kind


def ask_key(profile: ProviderProfile, *, optional: bool) -> Secret | None:
    """Ask for the key, without echo; None only if the service may need none."""
    more = ", or nothing if it needs none" if optional else ""
    while True:
        key = getpass(f"Key for {profile.name} (it is not shown{more}): ").strip()
        if key:
            return Secret(key)
        if optional:
            return None


def ask_model() -> str:
    """Ask for the name of a model, for a service without a list."""
    while True:
        if name := input("It lists no models. The name of the one to use: ").strip():
            return name


def agrees(question: str) -> bool:
    """Ask a yes-or-no question; anything but yes is no."""
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def _state(state: ProviderState) -> str:
    if state.ready:
        return f"has a key from {state.key_source}" if state.key_source else "needs no key"
    return "no key yet" if not state.configured else state.problem or ""

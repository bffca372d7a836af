"""`claw-acp prompt show`: the system prompt of a session in a directory, with the sizes and sources of its layers."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from claw_acp.agent.system_prompt import stable_layers
from claw_acp.agent.token_estimate import estimate
from claw_acp.cli.current_settings import locations_here, settings_of
from claw_acp.cli.skills.found import skills_of
from claw_acp.cli.terminal.paint import Paint, columns
from claw_acp.contracts.prompt_layer import PromptLayer
from claw_acp.core.messages import Message
from claw_acp.core.printable import plain_lines, printable
from claw_acp.runtime.permissions import configured_rules, current_policy, may_be_told, places_in
from claw_acp.security.permission_store import PermissionStore
from claw_acp.skills.index import instructions
from claw_acp.workspace.paths import session_root

_DESCRIPTION = """\
Print what a model is told before the conversation, layer by layer, with the source and the size of each. What servers
and programs of a running session add is not known here; /context shows the size of all in a session.
"""


def main(argv: Sequence[str]) -> int:
    """Print the layers, or only their sizes."""
    options = _parser().parse_args(argv)
    directory = session_root(str(Path(options.cwd).absolute()))
    layers = [layer for layer in _layers(directory, window=options.window) if layer.text]
    if not options.sizes:
        for layer in layers:
            print(Paint()(f"[{printable(layer.name)}]", "bold"))
            print(plain_lines(layer.text))
    rows = [(printable(layer.name), f"{len(layer.text):,}", f"{_tokens(layer):,}") for layer in layers]
    whole = "".join(layer.text for layer in layers)
    total = ("all", f"{len(whole):,}", f"{sum(map(_tokens, layers)):,}")
    print("\n".join(columns([("LAYER", "CHARACTERS", "TOKENS, ABOUT"), *rows, total])))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="claw-acp prompt", description=_DESCRIPTION)
    parser.add_argument("command", choices=["show"], help="print the system prompt")
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the directory to work in (default: here)")
    parser.add_argument("--sizes", action="store_true", help="print only the table of sizes")
    parser.add_argument(
        "--window", metavar="TOKENS", type=int, default=0, help="the model's window, which bounds the list of skills"
    )
    return parser


def _layers(directory: Path, *, window: int) -> Sequence[PromptLayer]:
    settings, locations = settings_of(directory), locations_here()
    policy = current_policy(configured_rules(settings), PermissionStore(locations.permissions_file), directory)
    may_read = partial(may_be_told, policy=policy, places=partial(places_in, (directory,), locations))
    own = (*locations.instruction_files, *settings.prompt.files)
    layers = stable_layers([directory], own=own, may_read=may_read)
    if not settings.skills.enabled:
        return layers
    text = instructions(skills_of(directory), window=window, form=settings.skills.index)
    return *layers, PromptLayer(name="skills", text=text, stable=False)


def _tokens(layer: PromptLayer) -> int:
    return estimate([Message.system(layer.text)])

"""The running hub, from the command line: is it there, what does it do, make it stop, start it in the background."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from claw_acp.acp.bridge.agent import connected_hub
from claw_acp.cli.current_settings import locations_here
from claw_acp.config.hub_socket import hub_socket
from claw_acp.config.locations import private_directory
from claw_acp.config.other_hubs import other_hubs
from claw_acp.core.errors import ConfigError
from claw_acp.core.version import VERSION
from claw_acp.gateway.hub.socket_file import wait_for_end
from claw_acp.process.own_program import start_detached

ERRORS: Final = "serve.stderr"
"""The file in the log directory that gets the standard error of a hub in the background."""


def ask_hub(
    method: str, params: Mapping[str, Any] | None = None, *, path: str | None = None
) -> Mapping[str, Any] | None:
    """The result of a control request to the running hub, or to the one at `path`; None if there is none.

    Raises:
        ConfigError: It refuses, or does not answer as it should.
    """
    about = {"protocolVersion": 1, "role": "control", "endpointInfo": {"name": "claw-acp serve", "version": VERSION}}
    connection = connected_hub(os.environ, about, path=path)
    if connection is None:
        return None
    with closing(connection), connection.makefile("rwb") as stream:
        try:
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
            stream.write(json.dumps(request).encode() + b"\n")
            stream.flush()
            answer = json.loads(stream.readline())
            if "error" in answer:
                raise ConfigError(f"the hub refuses: {answer['error']['message']}")
            return answer["result"]
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(
                f"the hub that is running does not answer {method}: {error}; the log says more"
            ) from error


def stop_hub() -> bool:
    """Stop the running hub, and those of other versions, and wait until they have ended; False if there was none.

    Raises:
        ConfigError: One does not answer.
    """
    stopped = False
    for path in (hub_socket(os.environ), *other_hubs(os.environ)):
        if Path(path).exists() and ask_hub("hub/shutdown", path=path) is not None:
            wait_for_end(path)
            stopped = True
    return stopped


def start_in_background(arguments: Sequence[str]) -> Mapping[str, Any]:
    """Start `claw-acp serve` with `arguments`, detached from this terminal; its status once it is there.

    Raises:
        ConfigError: It ended at once; the text has what it said.
    """
    errors = private_directory(locations_here().log_dir) / ERRORS
    with errors.open("wb") as stderr:
        child = start_detached(["serve", *arguments], stdout=subprocess.PIPE, stderr=stderr)
    assert child.stdout is not None
    with child.stdout:
        child.stdout.readline()  # its address, as soon as it can be used
    status = ask_hub("hub/status")
    if status is None:
        child.wait()
        raise ConfigError(f"the hub did not start: {_last_words(errors)}")
    return status


def _last_words(file: Path) -> str:
    return file.read_text("utf-8", "replace").strip() or f"it said nothing; see the log in {file.parent}"

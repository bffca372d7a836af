"""`claw-acp schema export`: the documents of our own protocols, in this version."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from claw_acp.gateway.control.methods import METHODS
from claw_acp.gateway.control.openrpc import document_text
from claw_acp.verify.endpoint import documents as endpoint
from claw_acp.verify.provider import documents as provider


def main(argv: Sequence[str]) -> int:
    """Write the documents to a directory."""
    parser = argparse.ArgumentParser(prog="claw-acp schema", description="The documents of claw-acp's own protocols.")
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser("export", help="write JSON Schemas, OpenRPC documents and test vectors")
    export.add_argument("directory", type=Path, help="where to; a folder for each protocol is made in it")
    options = parser.parse_args(argv)
    directory: Path = options.directory
    published = {f"provider/{name}": text for name, text in provider.documents().items()}
    published |= {f"endpoints/{name}": text for name, text in endpoint.documents().items()}
    published["control/openrpc.json"] = document_text(METHODS)
    for name, text in published.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0

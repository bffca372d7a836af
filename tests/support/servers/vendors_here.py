"""`python -m tests.support.servers.vendors_here`: the program, with the vendors redirected to `VENDORS_HERE`.

Their usual variables for another address would not do: at another address a key is optional, and may be of any vendor.
"""

import os
import sys
from pathlib import Path
from types import MappingProxyType

from claw_acp.acp.boot import main
from claw_acp.core.value import replace
from claw_acp.providers.registry import services as known

PROGRAM = ("-m", "tests.support.servers.vendors_here")


def vendors_here(port: int) -> dict[str, str]:
    """The environment in which both vendors are a `ModelServer` at this port."""
    return {"VENDORS_HERE": f"http://127.0.0.1:{port}", "PYTHONPATH": str(Path(__file__).parents[3])}


if __name__ == "__main__":
    address = os.environ["VENDORS_HERE"]
    moved = {
        "anthropic": replace(known.ANTHROPIC, base_url=address),
        "openai": replace(known.OPENAI, base_url=f"{address}/v1"),
    }
    usual, services = known.SERVICES, MappingProxyType({**known.SERVICES, **moved})
    for module in [*sys.modules.values()]:  # in a forked process many have them already
        if vars(module).get("SERVICES") is usual:
            vars(module)["SERVICES"] = services
    sys.exit(main())

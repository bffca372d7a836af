"""`python -m claw_acp` is `claw-acp`."""

import sys

from claw_acp.acp.boot import main

if __name__ == "__main__":
    sys.exit(main())

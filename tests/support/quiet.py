"""The environment of every test, in which the machine's own servers, sandboxes and the vendors do not exist."""

QUIET = {
    "CLAW_ACP_LOCAL_SERVERS": "off",
    "CLAW_ACP_MODEL_LISTS": "off",
    "CLAW_ACP_MODEL_REFERENCE": "off",
    "CLAW_ACP_REPAIR": "off",
    "CLAW_ACP_SANDBOX": "off",
}

"""What every test adds to the environment: what listens on this machine, and the vendors, are nothing to it."""

QUIET = {"CLAW_ACP_LOCAL_SERVERS": "off", "CLAW_ACP_MODEL_LISTS": "off", "CLAW_ACP_MODEL_REFERENCE": "off"}

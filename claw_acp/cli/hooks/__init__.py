"""`claw-acp hooks`: the hooks that count in a folder."""

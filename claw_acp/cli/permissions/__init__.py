"""`claw-acp permissions`: the rules, and what they decide."""

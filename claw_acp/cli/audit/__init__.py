"""`claw-acp audit`: look at the record of what was done, check it, hand it on."""

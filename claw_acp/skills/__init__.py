"""Skills: instructions for kinds of work, in folders with a `SKILL.md`, as a session extension."""

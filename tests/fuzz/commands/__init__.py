"""Command lines that the policy lets run unasked, really run, and judged by what they changed."""

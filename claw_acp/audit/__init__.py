"""The audit log: what was done, for whom and by which rule, in files whose lines vouch for those before them."""

"""Values everything shares: messages, events, errors, ids, clock, redaction. Standard library only."""

"""What a client of protocol 2 sends: models of its own where the draft differs, else those of protocol 1."""

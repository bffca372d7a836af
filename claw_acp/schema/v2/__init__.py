"""The requests of a client of protocol 2: own models where the draft differs, else those of protocol 1."""

"""Sessions: journal, history, replay, locks."""

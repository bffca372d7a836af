"""Rules that are judged by all frames of the run."""

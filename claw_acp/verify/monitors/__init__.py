"""Rules that are judged by everything that was said, whatever it was said for."""

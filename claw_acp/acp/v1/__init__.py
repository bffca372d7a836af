"""Protocol 1: its methods, and the rendering of events."""

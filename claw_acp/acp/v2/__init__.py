"""Protocol 2 (draft): its methods, and the rendering of events."""

"""Tools that use a browser: Chromium of the system, in a process of its own."""

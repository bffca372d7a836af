"""The control interface: what programs and pages can ask of a running server, and have it do."""

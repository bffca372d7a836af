"""What redaction is measured on: made-up secrets of every kind, and harmless text. `python -m tests.core.redaction`."""

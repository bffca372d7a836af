"""Measures the speed table of the README: `python -m tests.benchmarks` or `poe bench`. Not part of the test suite."""

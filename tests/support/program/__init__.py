"""The program under test: in the process of the test, forked, or started as a fresh interpreter."""

"""Wire models of the Agent Client Protocol, hand-written, checked against the official schema in the tests."""

"""The messages of an agent in protocol 2; unions and enumerations are open there."""

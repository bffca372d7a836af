"""The messages of an agent in protocol 2, as far as their shape is fixed: unions and enumerations are open there."""

"""What an agent sends in protocol 2, as far as its shape is fixed: unions and enumerations are open there."""

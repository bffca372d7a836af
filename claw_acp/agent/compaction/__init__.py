"""Making room in a conversation that fills the model's window; loaded when the first one does."""

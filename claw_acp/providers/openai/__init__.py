"""OpenAI's chat completions, and the same at Azure."""

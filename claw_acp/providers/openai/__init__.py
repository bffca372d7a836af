"""OpenAI's chat completions, also at Azure."""

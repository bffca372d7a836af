"""The offline assistant: a grammar of requests, and the tasks that carry them out."""

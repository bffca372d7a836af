"""Several attempts at one prompt, each in a git worktree of its own. Everything is loaded with the first `/try`."""

"""An ACP client: drives an agent process the way an editor does."""

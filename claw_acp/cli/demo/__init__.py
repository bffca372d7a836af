"""`claw-acp demo`: the main job on a sample project."""

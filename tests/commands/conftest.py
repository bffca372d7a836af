"""Commands are tested on real folders, and through the real program."""

from tests.support.editors.editor_fixtures import home, opened, project, spawn

__all__ = ["home", "opened", "project", "spawn"]

"""An editor with a project."""

from tests.support.editors.editor_fixtures import home, opened, project, spawn

__all__ = ["home", "opened", "project", "spawn"]

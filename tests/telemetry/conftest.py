"""A project, a home, and a program in them."""

from tests.support.editors.editor_fixtures import home, project, spawn

__all__ = ["home", "project", "spawn"]

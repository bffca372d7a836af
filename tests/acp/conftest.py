"""Tests of how the program starts and ends on its descriptors."""

from tests.support.editors.editor_fixtures import home, opened, project, spawn

__all__ = ["home", "opened", "project", "spawn"]

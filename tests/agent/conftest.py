"""Tests of the loop that runs a turn."""

from tests.support.editors.editor_fixtures import home, opened, project, spawn

__all__ = ["home", "opened", "project", "spawn"]

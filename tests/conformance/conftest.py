"""Conformance tests name the rules of the protocol that they prove (see `manifest.py`)."""

from tests.support.editors.editor_fixtures import home, opened, project, spawn

__all__ = ["home", "opened", "project", "spawn"]

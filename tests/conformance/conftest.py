"""Conformance tests name the case of the protocol that they prove."""

import pytest

from tests.support.editor_fixtures import home, opened, project, spawn

__all__ = ["home", "opened", "project", "spawn"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "case(*numbers): conformance cases of the protocol that the test proves")

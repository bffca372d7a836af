"""Providers that are programs of their own, in any language (`kind = "binary"`)."""

from typing import Final

PLUGIN_DEFAULT: Final = "plugin-default"
"""The model of a plugin without a configured one: the plugin chooses."""

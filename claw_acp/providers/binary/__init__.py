"""Providers that are programs of their own, in any language (`kind = "binary"`)."""

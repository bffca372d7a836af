"""Admission: tokens with scopes, their store, and pairing by a code."""

"""The version of this program; the package metadata is made from it."""

VERSION = "0.1.0"

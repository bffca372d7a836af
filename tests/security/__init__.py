"""Tests of what a tool call may do."""

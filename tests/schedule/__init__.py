"""Schedules: when jobs are due, and what becomes of their runs."""

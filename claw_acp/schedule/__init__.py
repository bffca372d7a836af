"""Schedules: jobs that run at set times; sole owner of croniter."""

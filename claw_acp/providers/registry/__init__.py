"""The providers that can be named: known services, the user's own, their keys."""

"""The registry of providers: known services, the user's own, their keys."""

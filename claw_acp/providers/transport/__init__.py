"""Requests to a service and the events of its answers: what the wire families share."""

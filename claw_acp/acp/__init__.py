"""The editor front end: Agent Client Protocol on stdio."""

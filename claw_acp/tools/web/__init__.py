"""The tool that fetches pages."""

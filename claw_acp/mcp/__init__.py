"""Servers of the Model Context Protocol: their tools, prompts and resources in one session. Sole owner of mcp.

Modules that import the library are loaded in a worker thread by `loading`, once a session names a server.
"""

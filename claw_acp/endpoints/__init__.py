"""Programs that attach to the hub, on its socket or as its children: connections, identities, and the tools they lend.

Loaded in a worker thread, with the first of them.
"""

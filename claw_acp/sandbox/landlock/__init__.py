"""Landlock: a process gives up rights to files and, with a filter of system calls, to networks. It needs no program."""

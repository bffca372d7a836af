"""Files and processes on this machine, behind the workspace port."""

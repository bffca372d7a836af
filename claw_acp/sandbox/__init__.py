"""Confinement of programs by the kernel: the sandboxes of this machine, and what each of them enforces."""

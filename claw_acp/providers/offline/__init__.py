"""What the offline assistant knows: how requests are understood, and how each is done."""

"""Models that services list and others publish, with their prices."""

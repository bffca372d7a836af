"""Checks of provider programs: the vectors of the provider protocol, played against any binary."""

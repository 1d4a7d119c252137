"""Runs made elsewhere: read them, follow them while they go on, and the bridge that records a TRL run."""

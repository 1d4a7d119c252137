"""The views, one a file."""

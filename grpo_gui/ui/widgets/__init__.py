"""Small reusable widgets, one a file."""

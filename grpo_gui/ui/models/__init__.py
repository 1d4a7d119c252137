"""Qt models over what the store holds."""

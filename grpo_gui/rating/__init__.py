"""Ratings of people: which group to rate next, how ratings become rewards, and how far they can be trusted."""

"""Built-in tasks, prompt files and reward functions."""

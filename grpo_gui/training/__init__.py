"""Configuration, presets, rollout, the trainer and where it runs."""

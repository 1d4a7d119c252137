"""One script a figure of the documentation; `python -m benchmarks` runs them all."""

"""What leaves the program: curves as tables, plots as pictures, a report to read, a run as one file."""

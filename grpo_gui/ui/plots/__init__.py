"""The plots of a run: smoothing, ticks and axes as plain functions, the rest on pyqtgraph."""

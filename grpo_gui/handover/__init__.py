"""Handing a run over to TRL: one process, several of this machine, or several machines, followed like any other run."""

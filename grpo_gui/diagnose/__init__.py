"""Diagnosis: what is wrong with a run, said early. Step statistics in, findings out; no Qt, no SQL, no torch."""

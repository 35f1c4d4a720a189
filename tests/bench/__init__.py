"""Measures Delta Upkeep against Delta, Delta Kernel and delta-rs; `make bench` runs it."""

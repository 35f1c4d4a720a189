"""Measures Delta Upkeep against Delta and delta-rs; `make bench` runs it."""

"""Damages files of a log, one at a time, and runs each statement on what is left."""

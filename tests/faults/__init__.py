"""Interruptions, storms and damage, and what must be left after them."""

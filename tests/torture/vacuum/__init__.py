"""Random tables, and what VACUUM may delete of them."""

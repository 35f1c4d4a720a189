"""A fuzz of OPTIMIZE and the others on tables that they have not written."""

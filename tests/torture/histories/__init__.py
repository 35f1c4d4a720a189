"""What users do to a table over time, with our statements in between."""

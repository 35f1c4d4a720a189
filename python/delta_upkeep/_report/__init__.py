"""Shows the rows of DESCRIBE HEALTH as text, as a page and as plots."""

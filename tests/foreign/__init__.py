"""Tables that others wrote: types, values, rows, writers, statistics, readers."""

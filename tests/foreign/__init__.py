"""Tables that others write and read: types, values, rows, writers, statistics, readers."""

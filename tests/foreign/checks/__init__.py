"""What must hold after a statement: rows, filters, statistics and types, as others read them."""


class Broken(AssertionError):
    """A statement changed what a reader sees, or failed although it must not."""

"""The health report in a real browser."""

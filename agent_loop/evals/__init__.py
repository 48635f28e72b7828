"""Measures the loop: attempts at tasks, a report, and numbers that can be published."""

"""The job server: starts runs over HTTP. A door of its own, off unless somebody starts it."""

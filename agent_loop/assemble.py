"""Config + task -> a ready run; the only module that names implementations."""

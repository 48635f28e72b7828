"""What a patch changed in Python sources, read without running any of it."""

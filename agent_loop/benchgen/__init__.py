"""A benchmark out of any library with tests: injected bugs, validated, reported honestly."""

"""What runs inside the containers: standard library only, imported by full name, no work at import.

`agent` runs beside the solution; `judge` runs the asserts against it from another container;
`shared` runs both in one. The rest is what these have in common. They start once per container,
so they import little: `typing`, `dataclasses` and `traceback` would double the time.
"""

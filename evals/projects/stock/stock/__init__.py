"""A small warehouse."""

from stock.shelf import OutOfStock, Shelf

__all__ = ["OutOfStock", "Shelf"]

"""Walks that go on only where they began."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from tms.store.connection import Connection

Item = TypeVar("Item")


class Owned(Generic[Item]):
    """An iterator that belongs to the thread and the process of its connection.

    A generator that refuses a step is at its end, and the rest would silently be missing; so this
    refuses before it takes one.

    Args:
        connection: what it reads.
        items: what it gives.
    """

    __slots__ = ("_check", "_items")

    def __init__(self, connection: Connection, items: Iterator[Item]) -> None:
        self._check = connection.check_owner
        self._items = items

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        self._check()
        return next(self._items)

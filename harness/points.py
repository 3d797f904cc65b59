"""A user-defined type of Spark, which is an array of doubles to whoever does not look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pyspark.sql.types import ArrayType, DataType, DoubleType, UserDefinedType


class PointType(UserDefinedType):  # type: ignore[misc]
    """The type of :class:`Point`."""

    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802 (the name that Spark calls)
        """What it is stored as."""
        return ArrayType(DoubleType(), False)

    @classmethod
    def module(cls) -> str:
        """Where Python finds it."""
        return __name__

    def serialize(self, obj: Any) -> list[float]:
        """To what it is stored as."""
        return [obj.x, obj.y]

    def deserialize(self, datum: Any) -> Point:
        """From what it is stored as."""
        return Point(*datum)


@dataclass
class Point:
    """A value."""

    x: float
    y: float

    __UDT__: ClassVar[PointType] = PointType()

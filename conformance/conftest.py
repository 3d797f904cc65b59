"""What only these tests share; servers and Spark are those of :mod:`harness.fixtures`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def session(request: pytest.FixtureRequest) -> Callable[[], Any]:
    """Spark for the ways in that need it; it starts at the first of them."""
    return lambda: request.getfixturevalue("spark")

"""The faults of ``make selftest`` follow the code: each has its place in it."""

from __future__ import annotations

import pytest
from integration.faults import FAULTS, Fault

from harness.reports import REPOSITORY


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_one_place_in_the_code(fault: Fault) -> None:
    assert (REPOSITORY / fault.file).read_text(encoding="utf-8").count(fault.old) == 1

"""Damage to one row costs that row alone, is logged and counted, and is never shown as something true."""

import pytest

from tests.torture.flips import flip_and_judge, furnish

DRAWS = 200
PARTS = 8
QUICK = 2
"""So many of the parts belong to the quick check, the others to the tests of many games."""

# A larger run: python -m tests.torture flips --draws 5000


@pytest.mark.parametrize(
    "part", [*range(QUICK), *(pytest.param(part, marks=pytest.mark.play) for part in range(QUICK, PARTS))]
)
async def test_one_flipped_byte_anywhere_costs_one_row_and_is_told(tmp_path, part):
    expected = await furnish(tmp_path / "furnished")
    faults: list[str] = []
    for draw in range(DRAWS // PARTS):
        faults += await flip_and_judge(
            tmp_path / "furnished", expected, tmp_path / "flipped", f"{part}.{draw}"
        )
    assert not faults

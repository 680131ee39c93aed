"""Families of operators, whatever engine names them."""

import pytest

from explorer.operators.families import BOOKKEEPING, FAMILIES, family
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("op", "expected"), rows(__file__, "test_an_op_has_one_family_whatever_engine_names_it")
)
def test_an_op_has_one_family_whatever_engine_names_it(op: str, expected: str) -> None:
    assert family(op) == expected


def test_no_op_is_of_two_families() -> None:
    names: list[str] = []
    for family_name, members in FAMILIES.items():
        names += [family_name, *members.split()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_members_of_a_family_are_found_as_the_table_spells_them(name: str) -> None:
    assert {family(member) for member in (name, *FAMILIES[name].split())} == {name}


def test_bookkeeping_families_are_in_the_table() -> None:
    assert FAMILIES.keys() >= BOOKKEEPING

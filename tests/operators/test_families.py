"""Families of operators, whatever engine names them."""

import pytest

from explorer.operators.families import BOOKKEEPING, FAMILIES, family


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("aten.addmm.default", "matmul"),
        ("PrimFunc_ReLU", "relu"),
        ("AddmmBackward0", "matmulgrad"),
        ("BiasAddGrad", "sum"),
        ("ReluBackward0", "relugrad"),
        ("aten.threshold_backward.default", "relugrad"),
        ("TBackward0", "transpose"),
        ("_operator.getitem", "tuple"),
        ("Default/ops.MatMul", "opsmatmul"),
        ("MaxPoolWithIndices", "maxpool"),
        ("aten.max_pool2d_with_indices.default", "maxpool"),
        ("SomethingNew", "somethingnew"),
    ],
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

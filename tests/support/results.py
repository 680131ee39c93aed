"""Results of gradient calls, made by hand."""

import numpy as np

from explorer.model.arrays import AnyArray, pack
from explorer.model.failures import Failure
from explorer.model.results import Leaf, OracleResult, Result
from explorer.model.trees import Tree, branch, names_in

TWO = branch("dx", "dy")

NO_ORACLE = OracleResult("not_defined")


def answer(*arrays: AnyArray, structure: Tree = TWO, dtype: str | None = None) -> Result:
    """A result with outcome "ok" whose leaves hold some arrays."""
    names = names_in(structure)
    leaves = [Leaf(name, pack(array, dtype)) for name, array in zip(names, arrays, strict=True)]
    return Result(outcome="ok", structure=structure, leaves=tuple(leaves))


def dx(array: AnyArray) -> Result:
    """An answer of one tensor."""
    return answer(array, structure="dx")


def raised(kind: str = "ValueError") -> Result:
    """A result of a call that raised an error of some type."""
    return Result(outcome="raised", error=Failure(kind, "no"))


def values(dtype: str = "float32") -> AnyArray:
    """Numbers from -3 to 3, of shape (4, 6)."""
    return np.linspace(-3, 3, 24).reshape(4, 6).astype(dtype)


FINE = answer(values(), values())

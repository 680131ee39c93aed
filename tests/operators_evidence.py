"""What the study of operators measures, once for all tests of it and of its claims."""

from functools import cache

from explorer.measuring import Measured, measure
from explorer.studies.operators import STUDY
from explorer.studies.records import Target
from explorer.worker import Workers


@cache
def everything(workers: Workers) -> dict[str, Measured]:
    """Every measurement of the study; the first who asks pays for it."""
    return measure(STUDY.measurements(Target("", "cpu")), workers)

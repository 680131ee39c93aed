"""Data parallel training: two real processes a framework, their own gradients and the reduced ones, and what seeds have to do."""

from explorer.measuring import Measurement
from explorer.studies.data_parallel.telling import NAMES, tell
from explorer.studies.records import Study, Target

MEASUREMENTS = tuple(
    Measurement(name=name, kind=kind, target=f"{__name__}.in_{kind}:two_processes") for kind, name in NAMES.items()
)
"""One a framework; each starts and stops its own two processes."""


def measurements(target: Target) -> tuple[Measurement, ...]:
    """Both, whatever the target: the processes use the CPU."""
    return MEASUREMENTS


STUDY = Study(
    name="data-parallel",
    title="Data parallel: local gradients and reduced ones",
    question="What do DDP and DistributedGradReducer make of two ranks' gradients, and what must agree across ranks?",
    measurements=measurements,
    tell=tell,
    seconds=90.0,
)

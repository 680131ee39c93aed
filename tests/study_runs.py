"""Runs of studies that several test modules look at: the first who asks pays for it."""

import dataclasses
from functools import cache

from explorer.model.measurement import Measurement
from explorer.model.study import StudyRecord
from explorer.topics import study
from explorer.topics.question import Target
from explorer.topics.studying import run, target
from explorer.workers.workers import Workers

SLOW = {"training.inductor.torch"}
"""Ten seconds of a C++ compiler; a test of its own asks what it says where there is none."""


@cache
def studied(name: str, workers: Workers) -> StudyRecord:
    """The record of one run of the study called ``name``, without what is slow."""
    asked = study(name)

    def quick(where: Target) -> tuple[Measurement, ...]:
        return tuple(each for each in asked.measurements(where) if each.name not in SLOW)

    return run(dataclasses.replace(asked, measurements=quick), target(asked, None, "cpu"), workers)

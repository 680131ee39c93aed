"""The table of studies: questions beyond the matrix, each in a package of its own that is imported when it is asked for."""

import importlib

from explorer.choices import choose
from explorer.studies.records import Study

STUDIES = {
    "higher-order": "explorer.studies.higher_order",
    "loss-scale": "explorer.studies.loss_scale",
    "tape-life": "explorer.studies.tape_life",
    "stages": "explorer.studies.stages",
    "training": "explorer.studies.training",
    "schedules": "explorer.studies.schedules",
    "operators": "explorer.studies.operators",
    "data-parallel": "explorer.studies.data_parallel",
    "devices": "explorer.studies.devices",
}
"""Where each study is; the module has it under the name STUDY."""


def study(name: str) -> Study:
    """The study called ``name``; UsageError names the nearest one otherwise."""
    found: Study = importlib.import_module(STUDIES[choose("study", name, STUDIES)]).STUDY
    return found

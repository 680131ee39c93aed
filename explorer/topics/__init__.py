"""The table of topics: each is a package of its own, imported when it is asked for.

A topic measures something beyond the matrix of gradient calls.
"""

import importlib

from explorer.text.choices import choose
from explorer.topics.topic import Claim, Topic

TOPICS = {
    "gradients": "explorer.topics.gradients",
    "higher-order": "explorer.topics.higher_order",
    "loss-scale": "explorer.topics.loss_scale",
    "tape-life": "explorer.topics.tape_life",
    "stages": "explorer.topics.stages",
    "networks": "explorer.topics.networks",
    "training": "explorer.topics.training",
    "schedules": "explorer.topics.schedules",
    "operators": "explorer.topics.operators",
    "conventions": "explorer.topics.conventions",
    "data-parallel": "explorer.topics.data_parallel",
    "devices": "explorer.topics.devices",
    "contrasts": "explorer.topics.contrasts",
}
"""The package of each topic, which has it under the name TOPIC; studies are listed in this order."""

STUDIES = tuple(name for name in TOPICS if name not in {"gradients", "networks", "contrasts"})
"""Topics with a study; the others have claims alone."""


def topic(name: str) -> Topic:
    """The topic called ``name``, which is one of TOPICS."""
    # Imported on demand: a command about one topic does not wait for the others' tables.
    named: Topic = importlib.import_module(TOPICS[name]).TOPIC
    return named


def study_topic(name: str) -> Topic:
    """The topic whose study is called ``name``; UsageError names the nearest one otherwise."""
    return topic(choose("study", name, STUDIES))


def claims() -> dict[int, Claim]:
    """Every claim by its row, in order; ValueError when two topics judge one row."""
    claims: dict[int, Claim] = {}
    for name in TOPICS:
        for id, claim in topic(name).claims.items():
            if id in claims:
                raise ValueError(f"row {id} is judged twice, the second time in {name}")
            claims[id] = claim
    return dict(sorted(claims.items()))

"""The nets that are differentiated again and again: who answers, and what is known of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.model.measurement import Figures
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import wave
from explorer.topics.higher_order.nested import EVERY_ORDER, sampled
from explorer.topics.higher_order.questions import (
    ALL_ENGINES,
    NODES,
    NODES_OF_WAVE,
    ORDERS,
    ORDERS_OF_WAVE,
    REFERENCE,
    REFERENCE_OF_WAVE,
    WAVE,
)
from explorer.topics.question import PARTIES, Question

REFERENCE_LABEL = "PyTorch in float64"

InputAndOrder = tuple[str, str]
"""The name of an input, and an order as figures spell it: ("x", "2")."""


@dataclass(frozen=True)
class NestedNet:
    """A net that is differentiated again and again, and the questions about it."""

    name: str
    orders: Question
    reference: Question
    nodes: Question

    @property
    def is_wave(self) -> bool:
        """Whether this is the net with a closed form."""
        return self.orders == ORDERS_OF_WAVE


THE_WAVE = NestedNet(f"the wave {wave.FORMULA}", ORDERS_OF_WAVE, REFERENCE_OF_WAVE, NODES_OF_WAVE)


def nets(evidence: Evidence) -> list[NestedNet]:
    """The scenario looked at, and the wave where that is another one."""
    if evidence.target.scenario in ("", WAVE):
        return [THE_WAVE]
    return [NestedNet(evidence.target.name, ORDERS, REFERENCE, NODES), THE_WAVE]


def truth(evidence: Evidence, net: NestedNet) -> dict[InputAndOrder, dict[str, Any]]:
    """The figures that every engine is held against, by input and order.

    Of the wave its closed form, else those of PyTorch in float64, some of which may have raised.
    """
    if net.is_wave:
        return {
            ("x", str(order)): sampled(np.array(wave.derivative(order))) for order in EVERY_ORDER
        }
    derivatives: dict[InputAndOrder, dict[str, Any]] = {}
    for figures in evidence[net.reference].values():
        for name, by_order in figures["by input"].items():
            for order, figure in by_order.items():
                derivatives[name, order] = figure
    return derivatives


def one_tensor(evidence: Evidence, net: NestedNet) -> list[str]:
    """The inputs of a net that are one tensor; the wave has a single input."""
    for figures in evidence[net.reference].values():
        names: list[str] = figures.get("one tensor", [])
        return names
    return []


def truth_label(net: NestedNet) -> str:
    """What the truth of a net is called."""
    return "the closed form" if net.is_wave else REFERENCE_LABEL


def labels(net: NestedNet) -> list[str]:
    """Who is held against the truth: the engines, and of the wave PyTorch in float64 too."""
    labels = [PARTIES[engine].label for engine in ALL_ENGINES]
    return [*labels, REFERENCE_LABEL] if net.is_wave else labels


def answers(evidence: Evidence, net: NestedNet) -> dict[str, Figures]:
    """The figures of those of ``labels`` who answered."""
    answers = {}
    for engine, figures in evidence[net.orders].items():
        answers[PARTIES[engine].label] = figures
    if net.is_wave:
        for figures in evidence[net.reference].values():
            answers[REFERENCE_LABEL] = figures
    return answers


def figure_at(figures: Figures | None, place: InputAndOrder) -> Any:
    """The derivative at a place, what was raised there, or None where nobody answered."""
    if figures is None:
        return None
    name, order = place
    return figures["by input"].get(name, {}).get(order)


def in_a_list(label: str) -> str:
    """The name of an engine among others: without its comma."""
    return label.replace(",", "")

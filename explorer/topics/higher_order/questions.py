"""What is measured of higher orders: nested gradients, second derivatives, Jacobians, Hessians.

Nested gradients are those of the wave and of the scenario looked at.
"""

from pathlib import Path

from explorer.model.engines import ENGINES, STANDARD
from explorer.topics.higher_order.nested import check_scenario
from explorer.topics.higher_order.operators import OPERATORS
from explorer.topics.higher_order.transformations import NETS
from explorer.topics.question import LOOKED_AT, MINDSPORE_STYLES, Question
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="higher-order",
    package=__package__,
    title="Higher orders: gradients of gradients",
    question=(
        "How far can each engine differentiate again, at what cost, and where does it stop or "
        "go wrong?"
    ),
    default_scenario="polynomial",
    check_scenario=check_scenario,
    starts_by_names=True,
)

WAVE = str(Path(__file__).with_name("wave.py"))
"""The net with a closed form; the study looks at it beside whatever scenario is looked at."""

LARGEST = 2000
"""An order whose graph has more operators than this is the last that is asked of a net.

The next has more than twice as many.
"""

LONGEST = 30.0
"""An order that took more seconds than this is the last that is asked of a net.

What takes long is a compiler, which takes three to five times as long for the next order; with up to
three inputs, a measurement ends within its limit.
"""

LIMITS = {"largest": LARGEST, "longest": LONGEST}

ALL_ENGINES = STANDARD

TRANSFORMING = (*MINDSPORE_STYLES, "torch-func")
"""Who computes Jacobians and Hessians."""

TWICE = (*MINDSPORE_STYLES, "torch-tape", "torch-func")
"""Who differentiates single operators twice."""

ORDERS_OF_WAVE = TOPIC.ask(
    "orders.wave",
    ALL_ENGINES,
    program="orders",
    scenario=WAVE,
    options={"timed": True, **LIMITS},
)
ORDERS = TOPIC.ask(
    "orders",
    ALL_ENGINES,
    scenario=LOOKED_AT,
    unless_on=WAVE,
    options={"timed": False, **LIMITS},
)

REFERENCE_OF_WAVE = TOPIC.ask("reference.wave", ("torch",), program="reference", scenario=WAVE)
REFERENCE = TOPIC.ask(
    "reference",
    ("torch",),
    program="checked_reference",
    scenario=LOOKED_AT,
    unless_on=WAVE,
)


def ask_nodes(name: str, scenario: str, unless_on: str = "") -> Question:
    """How many operators the gradient of a scenario has at each order, in every engine's graph."""
    return TOPIC.ask(
        name,
        ALL_ENGINES,
        program=dict.fromkeys(STANDARD, "graph_sizes:nodes"),
        scenario=scenario,
        options=LIMITS,
        options_of={engine: {"engine": engine} for engine in STANDARD},
        # Graphs are captured to be counted, which some engines do in a worker of its own kind.
        kinds={engine: ENGINES[engine].captures_in for engine in STANDARD},
        unless_on=unless_on,
    )


NODES_OF_WAVE = ask_nodes("nodes.wave", WAVE)
NODES = ask_nodes("nodes", LOOKED_AT, unless_on=WAVE)

TRANSFORMATIONS = {
    net: TOPIC.ask(
        f"transformations, {net}", TRANSFORMING, program="transformations", options={"net": net}
    )
    for net in NETS
}
"""The questions about Jacobians, products and Hessians, by net."""

SECOND_DERIVATIVES = {
    group: TOPIC.ask(f"operators, {group}", TWICE, program="operators", options={"group": group})
    for group in OPERATORS
}
"""The questions about second derivatives of single operators, by group."""

SMALL_HESSIANS = TOPIC.ask("small_hessians", TRANSFORMING, program="second_derivatives")
"""Second derivatives of functions small enough to be read at a glance."""

"""What is measured of stages: a gradient and a training step after each compiler pass.

And graphs and tapes of the same programs for other values.
"""

from explorer.topics.question import LOOKED_AT
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="stages",
    package=__package__,
    title="Stages of a gradient graph",
    question=(
        "What does each pass of MindSpore's compiler make of a gradient, and what of it depends on"
        " the values?"
    ),
    default_scenario="dense_mse",
)

GRAPH = "mindspore-graph"
FORMS = (GRAPH, "mindspore-tape", "torch")
"""Who is asked for a program's graph or tape."""

LENGTHS = (1, 2, 4, 8, 16)
"""How often the loop is run whose length is a value."""

# These two have every step of every pass written down, which more than doubles the time that a
# compilation takes (2.10.0); for the others the few passes of a capture will do.
GRADIENT_PASSES = TOPIC.ask(
    "gradient_passes", (GRAPH,), scenario=LOOKED_AT, kinds={GRAPH: "mindspore-passes"}
)
TRAINING_PASSES = TOPIC.ask(
    "training_passes", (GRAPH,), scenario=LOOKED_AT, kinds={GRAPH: "mindspore-passes"}
)

BY_VALUES = {
    GRAPH: "in_mindspore:graphs_of_other_values",
    "mindspore-tape": "in_mindspore:tapes_of_other_values",
    "torch": "in_torch:other_values",
}
OTHER_VALUES = TOPIC.ask(
    "other_values",
    FORMS,
    program=BY_VALUES,
    scenario=LOOKED_AT,
    kinds={GRAPH: "mindspore-capture"},
)
BRANCH = TOPIC.ask(
    "branch",
    FORMS,
    program=BY_VALUES,
    scenario="branch_on_value",
    kinds={GRAPH: "mindspore-capture"},
)

LOOPS = TOPIC.ask(
    "loops",
    FORMS,
    program={
        GRAPH: "in_mindspore:graphs_of_loops",
        "mindspore-tape": "in_mindspore:tapes_of_loops",
        "torch": "in_torch:loops",
    },
    options={"lengths": list(LENGTHS)},
    kinds={GRAPH: "mindspore-capture"},
)

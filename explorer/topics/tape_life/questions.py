"""What is measured of the tape's life: what a forward records, keeps and frees.

And what happens when a gradient is asked for twice.
"""

from explorer.model.engines import WorkerKind
from explorer.topics.question import LOOKED_AT
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="tape-life",
    package=__package__,
    title="The life of the tape",
    question=(
        "What does a forward leave behind for its backward, when is it freed, and what happens on a"
        " second backward?"
    ),
    default_scenario="mlp_cross_entropy",
)

MINDSPORE = ("mindspore-tape", "mindspore-graph")
TAPES = ("torch-tape", "mindspore-tape")
EVERY = ("torch-tape", "mindspore-tape", "torch-graph", "mindspore-graph")

AS_READERS: dict[str, WorkerKind] = {"mindspore-tape": "mindspore-plain"}
"""Where what is kept and freed is measured: MindSpore starts there as a reader starts it."""

GUIDE = "dense_mse"
"""The scenario with the figures of the migration guides."""

LIFETIME = TOPIC.ask(
    "lifetime",
    EVERY,
    scenario=LOOKED_AT,
    program={
        "torch-tape": "in_torch:lifetime",
        "mindspore-tape": "in_mindspore:lifetime",
        "torch-graph": "in_torch:planned",
        "mindspore-graph": "in_mindspore:planned",
    },
    # Its graph is read from what the compiler writes down, which only this worker makes it do.
    kinds={**AS_READERS, "mindspore-graph": "mindspore-capture"},
)
FREEING = TOPIC.ask("freeing", TAPES, scenario=LOOKED_AT, kinds=AS_READERS)
FORWARD_ALONE = TOPIC.ask("forward_alone", MINDSPORE, scenario=LOOKED_AT, kinds=AS_READERS)
COMPILED = TOPIC.ask("compiled", ("torch-graph",), program="gradients:compiled", scenario=LOOKED_AT)

SECOND_BACKWARD = TOPIC.ask(
    "second_backward", ("torch-tape",), program="gradients:second_backward", scenario=GUIDE
)
SECOND_BACKWARD_OF_LITTLE = TOPIC.ask(
    "second_backward_of_little", ("torch-tape",), program="gradients:second_backward_of_little"
)
ACCUMULATION = TOPIC.ask(
    "accumulation", ("torch-tape",), program="gradients:accumulation", scenario=GUIDE
)
CALLED_AGAIN = TOPIC.ask(
    "called_again",
    ("mindspore-tape", "torch-graph", "mindspore-graph"),
    program="gradients:called_again",
    scenario=GUIDE,
)
REUSED = TOPIC.ask("reused", MINDSPORE, program="gradients:reused")

SWITCHES = TOPIC.ask("switches", ("torch-tape",), program="gradients:switches")
CUT_OFF = TOPIC.ask("cut_off", EVERY, program="gradients:cut_off")
IN_PLACE = TOPIC.ask("in_place", EVERY, program="gradients:in_place")
HOOKS = TOPIC.ask("hooks", EVERY, program="gradients:hooks")
# The net of linear_bce returns, beside its loss, an output that depends on the weights too.
EXTRA_OUTPUT = TOPIC.ask(
    "extra_output",
    ("torch-tape", *MINDSPORE),
    program="gradients:extra_output",
    scenario="linear_bce",
)
# The arguments of the scenario aliased_input are one tensor.
ANSWERS = TOPIC.ask("answers", EVERY, program="gradients:answers", scenario="aliased_input")
VARIABLE = TOPIC.ask(
    "variable",
    ("torch-tape",),
    program="gradients:variable",
    printed="chain_as_printed",
    meant="chain_as_meant",
)

"""What is measured of training steps: the routes to one, its parts, and how it is carried out."""

from explorer.topics.question import FRAMEWORKS, MINDSPORE_STYLES
from explorer.topics.topic import Topic
from explorer.topics.training.inputs import RATE
from explorer.topics.training.update_rules import MINDSPORE_PLACES, PLACES, optimizers_of

TOPIC = Topic(
    name="training",
    package=__package__,
    title="Training steps",
    question="Do all ways to take a training step leave the same weights, step by step?",
)

MODEL = TOPIC.ask("model", MINDSPORE_STYLES)
STEP_CELL = TOPIC.ask("step_cell", MINDSPORE_STYLES)
GRAD_OPERATION = TOPIC.ask("grad_operation", MINDSPORE_STYLES)
WITHOUT_SET_GRAD = TOPIC.ask(
    "grad_operation_without_set_grad",
    ("mindspore-tape",),
    program="grad_operation",
    options={"set_grad": False},
)
# The guide prints it for PyNative mode; graph style runs it too.
GUIDE_STEP = TOPIC.ask(
    "guide_step",
    MINDSPORE_STYLES,
    printed="step_as_printed",
    meant="step_as_meant",
)
FUNCTIONAL = TOPIC.ask("functional", (*MINDSPORE_STYLES, "torch"))
# Graph style compiles the net alone; under ms.jit, the update is in its graph too.
JIT = TOPIC.ask("jit", MINDSPORE_STYLES, program="functional", options={"jit": True})
LOOP = TOPIC.ask("loop", ("torch",))
COMPILED = TOPIC.ask("compiled", ("torch",), options={"backend": "aot_eager"})
INDUCTOR = TOPIC.ask("inductor", ("torch",), program="compiled", options={"backend": "inductor"})

UPDATES = TOPIC.ask(
    "updates",
    PLACES,
    program="optimizers:updates",
    options_of={place: {"place": place, "optimizers": optimizers_of(place)} for place in PLACES},
)
EXPORTED_OPTIMIZERS = TOPIC.ask("optimizers", FRAMEWORKS, program="optimizers:exported")
MOMENTUM = TOPIC.ask(
    "momentum",
    ("mindspore",),
    program="optimizers:momentum",
    options={
        "weight": [1.0, 2.0, 3.0],
        "gradient": [1.0, 1.0, 1.0],
        "rate": 0.1,
        "momentum": 0.9,
        "steps": 3,
    },
    printed="as_printed",
    meant="as_meant",
)
WEIGHT_DECAY = TOPIC.ask(
    "weight_decay",
    FRAMEWORKS,
    program="optimizers:weight_decay",
    options_of={
        "mindspore": {
            "optimizers": [
                ["nn", "SGD", {}],
                ["nn", "Momentum", {"momentum": 0.0}],  # the argument has no default
                ["nn", "Adam", {}],
                ["experimental", "SGD", {}],
                ["experimental", "Adam", {}],
                ["experimental", "AdamW", {}],
            ]
        },
        "torch": {"optimizers": ["SGD", "Adam", "AdamW"]},
    },
)

GROUP_SETTINGS = {
    "lr": [{"lr": 0.5}, 2],
    "weight_decay": [{"weight_decay": 0.5}, 2],
    # mindspore.nn passes over gradients whose rows are no multiple of 16 long (2.10.0).
    "grad_centralization, rows of 16": [{"grad_centralization": True}, 16],
    "grad_centralization, rows of 2": [{"grad_centralization": True}, 2],
    "momentum": [{"momentum": 0.9}, 2],
    "anything": [{"anything": 1}, 2],
}
"""What the first of two groups is given, and how long the rows of its weight are."""

GROUPS = TOPIC.ask(
    "groups", FRAMEWORKS, program="optimizers:groups", options={"settings": GROUP_SETTINGS}
)
TAKES_GROUPS = TOPIC.ask("takes_groups", FRAMEWORKS, program="optimizers:takes_groups")
ADD_PARAM_GROUP = TOPIC.ask(
    "add_param_group",
    FRAMEWORKS,
    program="optimizers:add_param_group",
    options={"optimizers": ["SGD", "Adam"]},
)
OPTIMIZER_STATE = TOPIC.ask("told", FRAMEWORKS, program="optimizers:optimizer_state")

# The global norm of these gradients is 13, so that clipping to 20 must leave them as they are.
CLIPPING = TOPIC.ask(
    "clipping",
    FRAMEWORKS,
    program="optimizers:clipping",
    options={"gradients": [[3.0, 4.0], [12.0]], "norms": [1.0, 5.0, 20.0], "value": 5.0},
    options_of={"mindspore": {"style": "graph"}},
)

# In inference, batch norm is the same function of every sample; in training it is not, since it
# normalises by the mean and variance of the batch that it sees.
ACCUMULATION = TOPIC.ask(
    "accumulation",
    FRAMEWORKS,
    program="optimizers:accumulation",
    options={"norm_in_training": False},
    options_of={"mindspore": {"style": "graph"}},
)
ACCUMULATION_BATCH_NORM = TOPIC.ask(
    "accumulation_batch_norm",
    FRAMEWORKS,
    program="optimizers:accumulation",
    options={"norm_in_training": True},
    options_of={"mindspore": {"style": "tape"}},
)

# The guide's lists of what has no counterpart, typing errors included.
UNMATCHED_IN_TORCH = ("ProximalAadagrad", "AdamOffload", "FTRL", "Lamb", "thor")
UNMATCHED_IN_MINDSPORE = ("ASGD", "LBFGS")
LOOKED_UP = TOPIC.ask(
    "looked_up",
    FRAMEWORKS,
    program="optimizers:looked_up",
    options_of={
        "mindspore": {"names": UNMATCHED_IN_TORCH},
        "torch": {"names": UNMATCHED_IN_MINDSPORE},
    },
)
UNMATCHED_UPDATES = TOPIC.ask(
    "unmatched",
    PLACES,
    program={
        "nn": "in_mindspore_optimizers:updates",
        "experimental": "in_mindspore_optimizers:updates",
        "torch": "in_torch_optimizers:every_update",
    },
    options_of={
        "nn": {
            "place": "nn",
            "optimizers": {
                "ASGD": ("ASGD", {"learning_rate": RATE}),
                # Its accumulator starts where that of torch.optim.Adagrad does.
                "ProximalAdagrad": ("ProximalAdagrad", {"learning_rate": RATE, "accum": 0.0}),
                "AdamOffload": ("AdamOffload", {"learning_rate": RATE}),
                "FTRL": ("FTRL", {"learning_rate": RATE}),
                "Lamb": ("Lamb", {"learning_rate": RATE}),
            },
        },
        "experimental": {"place": "experimental", "optimizers": {"ASGD": ("ASGD", {"lr": RATE})}},
    },
)
MINIMIZED = TOPIC.ask(
    "minimized",
    ("mindspore",),
    program="optimizers:minimized",
    options={"methods": UNMATCHED_IN_MINDSPORE},
)
THOR = TOPIC.ask("thor", ("mindspore",), program="optimizers:thor")

LOSS_SCALE = TOPIC.ask(
    "loss_scale",
    PLACES,
    program="optimizers:scaling",
    printed="printed_call",
    options={"gradient": 4.0, "scale": 4.0, "decay": 0.1},
    options_of={place: {"place": place} for place in MINDSPORE_PLACES},
)
PARAM_GROUPS = TOPIC.ask(
    "param_groups",
    PLACES,
    program="optimizers:param_groups",
    options_of={place: {"place": place} for place in MINDSPORE_PLACES},
)

LISTED_FILTERS = TOPIC.ask(
    "listed_filters",
    FRAMEWORKS,
    program="filters",
    printed="printed_filter",
    meant="meant_filter",
)
LISTED_SHAPES = TOPIC.ask(
    "listed_shapes",
    FRAMEWORKS,
    program="shapes",
    printed="printed_step",
    meant="padded_alike",
)

STATEFUL = TOPIC.ask("stateful", MINDSPORE_STYLES, program="steps")

FILTERED = TOPIC.ask("filtered", FRAMEWORKS, program="optimizers:filtered")
SCALED_STEP = TOPIC.ask("scaled_step", ("mindspore",))

DISPATCHES = TOPIC.ask("dispatches", FRAMEWORKS)
GRAPHS = TOPIC.ask(
    "graphs",
    ("mindspore",),
    kinds={"mindspore": "mindspore-capture"},  # the worker whose compiler saves its graphs
)

# The least of many repeats is taken: other processes can only make a step slower.
SPEED = TOPIC.ask(
    "speed",
    FRAMEWORKS,
    options={"repeats": 15},
    kinds={"mindspore": "mindspore-plain"},
)

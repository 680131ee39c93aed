"""What is measured of operators: every question, its parties, and the programs that answer."""

from explorer.topics.operators.kinks import GROUPS, Group
from explorer.topics.question import FRAMEWORKS, MINDSPORE_STYLES, Question
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="operators",
    package=__package__,
    title="Operators: defaults, borders, initial values, and gradients at kinks",
    question="Where do operators of one name differ between MindSpore, PyTorch and TensorFlow,"
    " forward and backward?",
)

LIBRARIES = (*FRAMEWORKS, "keras")
"""Keras has TensorFlow's conventions, and runs on PyTorch."""

FOUR_ENGINES = (*MINDSPORE_STYLES, "torch-graph", "torch-tape")
"""In the order of a table's columns."""

# The kinks are asked for group by group, so that several workers share them.
GRADIENTS_AT_KINKS: dict[Group, Question] = {
    group: TOPIC.ask(
        f"gradients_at_kinks.{group}",
        FOUR_ENGINES,
        program="gradients_at_kinks",
        options={"group": group},
    )
    for group in GROUPS
}
# Difference quotients need no gradient: one framework's float64 serves for all.
SLOPES_AT_KINKS: dict[Group, Question] = {
    group: TOPIC.ask(
        f"slopes_at_kinks.{group}",
        ("torch",),
        program="slopes_at_kinks",
        options={"group": group},
    )
    for group in GROUPS
}

# Engines are asked where a style might make a difference, libraries elsewhere.
DROPOUT_SETTINGS = TOPIC.ask("dropout_settings", LIBRARIES, program="layers:dropout_settings")
DROPOUT_DRAWS = TOPIC.ask("dropout_draws", FRAMEWORKS, program="layers:dropout_draws")
DROPOUT_MASK = TOPIC.ask("dropout_mask", FOUR_ENGINES, program="layers:dropout_mask")
BATCH_NORM_STATES = TOPIC.ask(
    "batch_norm_states", (*FOUR_ENGINES, "keras"), program="layers:batch_norm_states"
)
BATCH_NORM_MOMENTUM = TOPIC.ask(
    "batch_norm_momentum", LIBRARIES, program="layers:batch_norm_momentum"
)

AXES = TOPIC.ask("axes", LIBRARIES, program="layers:axes")
MAX_POOL = TOPIC.ask(
    "max_pool_of_nine", (*FOUR_ENGINES, "keras"), program="layers:max_pool_of_nine"
)
CONVOLUTION_SIDES = TOPIC.ask("convolution_sides", LIBRARIES, program="layers:convolution_sides")
CONVOLUTION_SIDES_OF_A_NUMBER = TOPIC.ask(
    "convolution_sides_of_a_number", FRAMEWORKS, program="layers:convolution_sides_of_a_number"
)
PADDING_BY_HAND = TOPIC.ask(
    "padding_by_hand",
    MINDSPORE_STYLES,
    program="layers:padding_by_hand",
    printed="pooled_as_printed",
    meant="pooled_as_meant",
)
STRIDED_CONVOLUTION = TOPIC.ask(
    "strided_convolution", FRAMEWORKS, program="layers:strided_convolution"
)
VALID_SIZES = TOPIC.ask("valid_sizes", LIBRARIES, program="layers:valid_sizes")
CONVOLUTION_DEFAULT = TOPIC.ask(
    "convolution_default", LIBRARIES, program="layers:convolution_default"
)

INITIAL_VALUES = TOPIC.ask("initial_values", LIBRARIES, program="layers:initial_values")
IMPLICIT_WEIGHTS = TOPIC.ask("implicit_weights", LIBRARIES, program="layers:implicit_weights")
EVALUATED_BATCH_NORM = TOPIC.ask(
    "evaluated_batch_norm", ("torch",), program="layers:evaluated_batch_norm"
)
ASCEND_OPERATORS = TOPIC.ask("ascend_operators", ("mindspore",), program="layers:ascend_operators")
EPSILONS = TOPIC.ask("layer_norm_of_a_small_pair", LIBRARIES, program="layers:epsilons")
GELU = TOPIC.ask("gelu", (*FOUR_ENGINES, "keras"), program="layers:gelu")
CROSS_ENTROPY = TOPIC.ask("cross_entropy", (*FOUR_ENGINES, "keras"), program="layers:cross_entropy")

OPERATOR_GRADIENTS = TOPIC.ask("operator_gradients", FOUR_ENGINES)
INFERENCE = TOPIC.ask("inference", FOUR_ENGINES)

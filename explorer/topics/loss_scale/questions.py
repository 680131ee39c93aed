"""What is measured of loss scaling, in MindSpore's two styles and in PyTorch.

The guide's example, floats over a range of scales, and the life of a scaler.
"""

from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="loss-scale",
    package=__package__,
    title="Loss scaling: what underflows, what overflows, and the life of a scaler",
    question=(
        "What does scaling the loss save in float16, and do the frameworks' scalers behave alike?"
    ),
)

SCALING = (*MINDSPORE_STYLES, "torch")
"""Who scales a loss: GradScaler works on PyTorch's tape alone, so it has no styles."""

SWEEP = TOPIC.ask("sweep", SCALING, kinds={"mindspore-tape": "mindspore-plain"})  # it is timed
GUIDE_EXAMPLE = TOPIC.ask("guide_example", SCALING, scenario="dense_mse")
FINITENESS = TOPIC.ask("finiteness", SCALING)
UNDERFLOW = TOPIC.ask("underflow", SCALING)
LIFE = TOPIC.ask("life", SCALING, program="life_of_scaler")
# GradScaler.step is PyTorch's only route, and its steps are those of LIFE.
OVERFLOWED_STEP = TOPIC.ask("overflowed_step", MINDSPORE_STYLES)
LIMITS = TOPIC.ask("limits", SCALING)
UNSCALING = TOPIC.ask("unscaling", SCALING)
RANGE = TOPIC.ask("range", SCALING, program="gradients_at_the_limit")

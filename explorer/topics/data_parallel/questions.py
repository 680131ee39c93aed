"""What is measured of data parallel training: one program a framework.

It starts and stops two processes of its own.
"""

from explorer.topics.question import FRAMEWORKS
from explorer.topics.topic import Topic

TOPIC = Topic(
    name="data-parallel",
    package=__package__,
    title="Data parallel: local gradients and reduced ones",
    question="What do DDP and DistributedGradReducer make of two ranks' gradients, and what must"
    " agree across ranks?",
)

TWO_PROCESSES = TOPIC.ask(
    "two_processes",
    FRAMEWORKS,
    printed="data_parallel_as_printed",
    # msrun mostly waits: meanwhile the other workers of MindSpore get on.
    kinds={"mindspore": "mindspore-plain"},
)

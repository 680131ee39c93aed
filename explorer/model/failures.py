"""Failures as facts: what a framework raised, what is known of it, and how a worker was lost."""

from typing import Literal

import msgspec

MISSING_FRAMEWORK = "MissingFramework"
"""The ``type`` of a Failure where a framework is not installed."""

MEMORY_LIMIT = "EXPLORER_WORKER_MB"
"""The variable with the number of megabytes that each worker may use."""

Refusal = Literal[
    "no_net",
    "no_torch_net",
    "no_oracle",
    "nested_differences",
    "nothing_to_vary",
    "no_auxiliary_outputs",
    "not_deterministic",
    "coarse_output",
    "integer_leaf",
    "odd_output",
    "keyword_only",
    "not_a_parameter",
    "parameter_shape",
    "random_operator",
    "unknown_device",
    "high_order",
    "interpreted_outputs",
    "unsafe_weights",
    "older_version",
    "no_package",
    "no_module",
]
"""A failure that the explorer itself found; behind the colon its ``details``.

- "no_net": the scenario defines no net for the framework
- "no_torch_net": nor one for PyTorch, which central differences need
- "no_oracle": the user left central differences out
- "nested_differences": central differences are not computed for nested
  gradients
- "nothing_to_vary": the case differentiates neither an input nor a weight
- "no_auxiliary_outputs": the net returns a single output, and the case has
  has_aux=True
- "not_deterministic": two runs on equal inputs gave different outputs
- "coarse_output": an output is too coarse for central differences: its number,
  its dtype, the step
- "integer_leaf": a leaf cannot be varied by a small step: its name, its dtype
- "odd_output": the net returns something other than tensors and numbers: its
  type
- "keyword_only": an argument is taken only by keyword: the forward's name, the
  argument
- "random_operator": with SAME_DROPOUT, an operator outside the dropout layers
  draws random numbers: the framework, the operator
- "not_a_parameter": a module holds what is none of its parameters: its name, the
  names of those
- "parameter_shape": a module holds a parameter in another shape: its name, the
  module's shape, the given one
- "unknown_device": MindSpore has no such device: its name, those that there are
- "high_order": the graph of so high an order cannot be captured: the order, the
  highest one
- "interpreted_outputs": the compiled graph does not compute all that the call
  returns: how many tensors it computes, of how many
- "unsafe_weights": a checkpoint could run code when it is loaded: its file
- "no_package": a package is not installed: its name
- "no_module": a package that is installed lacks a module, or a name in it: what
  Python says
- "older_version": the version of a framework lacks something: the framework, its
  version, what it lacks, the first version that has it
"""

Complaint = Literal["no_kernel", "no_kernel_here", "no_dtype", "no_value", "no_memory"]
"""A message of MindSpore's that fills a screen or says little; behind the colon the ``details``.

- "no_kernel": an operator has no kernel: the operator, the device
- "no_kernel_here": nor on the device that is used, which it does not name: the
  operator
- "no_dtype": no kernel takes the operands' dtypes: the device, the operator,
  the dtypes, and each combination that is taken
- "no_value": an argument is None, and the kernel takes none of that: the device,
  the operator
- "no_memory": it holds no memory for an output
"""

FailureKind = Refusal | Complaint

LACKING: frozenset[FailureKind] = frozenset({"no_module", "no_package", "older_version"})
"""The failures for something that is not installed, though the framework is."""

LossKind = Literal[
    "died",
    "closed",
    "unreadable",
    "memory",
    "no_answer",
    "out_of_time",
    "not_sent",
    "interrupted",
    "fault",
]
"""How a request to a worker was lost.

- "died": the process died, with the exit ``code`` if it is known; negative is a
  signal
- "closed": it closed its pipe but did not exit
- "unreadable": its answer cannot be read
- "memory": it exceeded its limit of ``amount`` megabytes
- "no_answer": there was no answer within ``amount`` seconds
- "out_of_time": there was no answer before the time limit of the whole run
- "not_sent": that limit was reached before the request was sent
- "interrupted": so was the run
- "fault": the explorer's own code in it raised ``output``; the process lives
"""


TIME_LIMITS: frozenset[LossKind] = frozenset({"no_answer", "out_of_time", "not_sent"})
"""The losses in which a time limit was reached, of one request or of the whole run."""


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """How a request to a worker was lost; ``output`` is the end of what it wrote to stderr."""

    kind: LossKind
    code: int | None = None
    amount: float = 0.0
    output: str = ""


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why an engine could not answer: the exception's type and message.

    ``source`` is the user's line ("net.py:12"), or "" where none is known. Where the explorer
    found the failure, or knows what a framework's message means, there is a ``kind`` with its
    ``details``; then ``message`` has the framework's own words, if it said anything. Of a
    message that lists signatures of an operator, so many are ``left_out``. ``loss`` says how a
    worker was lost. The sentence for all of them is that of text/failures.
    """

    type: str
    message: str = ""
    source: str = ""
    kind: FailureKind | None = None
    details: tuple[str, ...] = ()
    left_out: int = 0
    loss: Loss | None = None

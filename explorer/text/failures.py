"""Failures as text: a framework's own words, or what is known of why there is no result."""

from explorer.model.failures import (
    MEMORY_LIMIT,
    Failure,
    FailureKind,
    Loss,
    LossKind,
)
from explorer.text.language import _, later

KINDS: dict[FailureKind, str] = {
    "no_net": later("the scenario defines no net for this framework"),
    "no_torch_net": later("central differences need a PyTorch net, and the scenario defines none"),
    "no_oracle": later("central differences were left out (--no-oracle)"),
    "nested_differences": later(
        "central differences estimate gradients up to order 5; of higher ones they would be rounding"
    ),
    "nothing_to_vary": later(
        "the case differentiates neither an input nor a weight, so there is nothing to vary"
    ),
    "no_auxiliary_outputs": later(
        "the net returns a single output, so has_aux=True has no auxiliary outputs to return"
    ),
    "not_deterministic": later(
        "the net is not deterministic: two runs on equal inputs gave different outputs"
    ),
    "coarse_output": later(
        "output {0} of the net is {1} even with float64 inputs and weights,"
        " which is too coarse for central differences with a step of {2}"
    ),
    "integer_leaf": later(
        "{0} has dtype {1}; only real floating-point numbers can be varied by a small step"
    ),
    "odd_output": later(
        "the net returns a {0}; return tensors and numbers, in tuples,"
        " lists, dicts and dataclasses, or None"
    ),
    "keyword_only": later(
        "{0} takes {1!r} only by keyword, but inputs are passed by"
        " position, in the order of inputs(); remove the * from its"
        " signature"
    ),
    "not_a_parameter": later(
        "the module holds {0}, which is none of the parameters: {1};"
        " call its attributes as PyTorch's net does"
    ),
    "parameter_shape": later(
        "the module holds {0} in shape {1}, and is given {2}; use a layer that has"
        " PyTorch's shape, or whose kernel's axes are turned (Linear, Conv), or correct"
        " PARAMETER_NAMES where it pairs the two"
    ),
    "random_operator": later(
        "with SAME_DROPOUT = True only dropout layers and functions (nn.Dropout,"
        " ops.dropout, torch.nn.functional.dropout and their forms for channels) and"
        " the classes DropPath and StochasticDepth may draw random numbers, but {0}'s"
        " net also draws some with {1}; use one of these there, or"
        " make the random numbers an input and list it in CONSTANTS. Without"
        " SAME_DROPOUT = True, values that depend on random numbers are not"
        " compared"
    ),
    "unknown_device": later("MindSpore cannot use device {0!r}; allowed: {1}"),
    "high_order": later("the graph of order {0} cannot be captured; allowed: order 1 to {1}"),
    "interpreted_outputs": later(
        "the compiled graph computes only {0} of the {1} tensors that the"
        " call returns; Python's interpreter computes the others, such as"
        " the fields of a dataclass or a named tuple; return a tuple instead"
    ),
    "unsafe_weights": later(
        "{0!r} contains more than tensors and could run code when it is"
        " loaded (weights_only=True rejects it); save only the weights:"
        " torch.save(net.state_dict(), FILE)"
    ),
    "no_package": later("{0} is not installed where this ran"),
    "no_module": later("the installed version lacks a part that this needs: {0}"),
    "older_version": later("{0} {1} has no {2}; {0} {3} and later have it"),
    "no_kernel": later(
        "MindSpore has no {1} kernel for the operator {0}; use other"
        " operators instead, or a device that has one"
    ),
    "no_kernel_here": later(
        "MindSpore has no kernel on this device for the operator {0}; use"
        " other operators instead, or a device that has one"
    ),
    "no_dtype": later(
        "MindSpore's {0} kernel of the operator {1} does not support {2};"
        " cast to a supported dtype: {taken}"
    ),
    "no_value": later(
        "MindSpore's {0} kernel of the operator {1} is given an argument without a value: give"
        " every argument explicitly, such as the dtype of ops.zeros((), ms.float32)"
    ),
    "no_memory": later(
        "internal error of MindSpore: it has no memory for an output of the operator"
    ),
}
"""The words for failures that the explorer knows, and shows in place of a framework's message."""

LISTED = 4
"""How many combinations of dtypes are listed; of the others the number is."""

LOSSES: dict[LossKind, str] = {
    "died": later("the worker process died ({how})"),
    "closed": later("the worker closed its pipe but did not exit"),
    "unreadable": later("the worker's answer cannot be read"),
    "memory": later(
        "the worker exceeded its memory limit of {amount} MB; set {variable} to allow more"
    ),
    "no_answer": later("no answer within {amount} s; raise --request-timeout to wait longer"),
    "out_of_time": later(
        "no answer before the time limit of the whole run was reached;"
        " raise --timeout to wait longer"
    ),
    "not_sent": later(
        "the time limit of the whole run was reached; raise --timeout to wait longer"
    ),
    "interrupted": later("the run was interrupted first"),
    "fault": later("internal error of the explorer in a worker: {output}"),
}
"""The words for each kind of loss."""


def message(error: Failure) -> str:
    """What an error says, in the reader's language where the words are the explorer's."""
    if error.loss:
        return loss_text(error.loss)
    if error.kind:
        taken = _listed(error.details[3:]) if error.kind == "no_dtype" else ""
        return _(KINDS[error.kind]).format(*error.details, taken=taken)
    if error.left_out:
        text = _("{message}\nand {n} more")
        return text.format(message=error.message, n=error.left_out)
    return error.message


def typed(error: Failure) -> str:
    """An error as Python would end its traceback: "RuntimeError: no grad"."""
    return f"{error.type}: {message(error)}"


def _listed(dtypes: tuple[str, ...]) -> str:
    """The first of several dtypes, and how many there are beyond."""
    listed = _(" or ").join(dtypes[:LISTED])
    rest = len(dtypes) - LISTED
    if rest <= 0:
        return listed
    return _("{listed} or one of {n} more").format(listed=listed, n=rest)


def loss_text(loss: Loss) -> str:
    """How a worker was lost, with the last of what it wrote to stderr."""
    amount = f"{loss.amount:.0f}" if loss.kind == "memory" else f"{loss.amount:g}"
    lost = _(LOSSES[loss.kind]).format(
        how=_ended(loss.code), amount=amount, variable=MEMORY_LIMIT, output=loss.output
    )
    if not loss.output or loss.kind == "fault":
        return lost
    return _("{loss}; its error output ends with:\n{output}").format(loss=lost, output=loss.output)


def _ended(code: int | None) -> str:
    """How a process ended, from its exit code: negative if a signal ended it."""
    if code is None:
        return _("reason unknown")
    if code < 0:
        return _("signal {n}").format(n=-code)
    return _("exit code {n}").format(n=code)

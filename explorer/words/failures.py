"""Why there is no result, in words: a framework's own, or what was refused before it was called."""

from explorer.model.results import Failure, Refusal
from explorer.text.language import _, later
from explorer.workers.protocol import loss_text

REFUSALS: dict[Refusal, str] = {
    "no_net": later("the scenario defines no net for this framework"),
    "no_torch_net": later("central differences need a PyTorch net, and the scenario defines none"),
    "nested_differences": later(
        "central differences are not computed for nested gradients: with a step of 1e-6, a second"
        " difference would divide rounding errors by 1e-12"
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
        "output {0} of the net is {1} even with float64 inputs and weights, which is too coarse for"
        " central differences with a step of {2}"
    ),
    "integer_leaf": later("{0} has dtype {1}, and integers cannot be varied by a small step"),
}
"""The words for failures that no exception stands for."""


def message(error: Failure) -> str:
    """What an error says: the framework's own words, or why nothing was computed."""
    if error.loss:
        return loss_text(error.loss)
    if error.refusal is None:
        return error.message
    return _(REFUSALS[error.refusal]).format(*error.details)

"""The texts of cells and notes that several topics have."""

from explorer.text.language import later

TEXTS = {
    "unknown_answer": later("judging raised"),
    "untold": later("part of this study cannot be told of what was measured here: {error}"),
    "mindspore-graph": later("MindSpore, graph"),
    "mindspore-tape": later("MindSpore, tape"),
    "torch-graph": later("PyTorch, graph"),
    "torch-tape": later("PyTorch, tape"),
    "jax-graph": later("JAX, graph"),
    "jax-tape": later("JAX, tape"),
    "mindspore-graph.listed": later("MindSpore graph"),
    "mindspore-tape.listed": later("MindSpore tape"),
    "torch-graph.listed": later("PyTorch graph"),
    "torch-tape.listed": later("PyTorch tape"),
    "jax-graph.listed": later("JAX graph"),
    "jax-tape.listed": later("JAX tape"),
    "yes": later("yes"),
    "no": later("no"),
    "none": later("none"),
    "not_measured": later("not measured"),
    "missing": later("{who}: {why}."),
    "no_figures": later("No figures of {names:,}: {error}."),
    "failure": later("{failure}"),
    "typed_failure": later("{failure:typed}"),
    "sentences": later("{first} {then}"),
    "clauses": later("{clauses:;}"),
}

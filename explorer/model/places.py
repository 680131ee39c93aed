"""Places in files, "file:line", as nodes name them: whose file it is."""

FRAMEWORK_PACKAGES = ("mindspore", "torch", "keras")
"""The packages that are no user's; their files are named by the path: "torch/nn/functional.py"."""


def is_users(place: str) -> bool:
    """Whether a node's place lies in the user's code: "net.py:3", "own/torch/models.py:3"."""
    package, slash, _ = place.partition("/")
    return not slash or package not in FRAMEWORK_PACKAGES

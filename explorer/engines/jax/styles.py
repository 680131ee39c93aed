"""The two styles of JAX by the names of their engines."""

from explorer.engines.jax import graph, tape

STYLES = {"jax-tape": tape, "jax-graph": graph}

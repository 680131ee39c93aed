"""The alignment of the two graphs in sight: the report's own where it has one, else made here."""

import hashlib

import msgspec
import streamlit as st

from explorer.compare.align import align
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.pair.alignments import has_values, reported
from explorer.text.language import _


def alignment_of(left: GradGraph, right: GradGraph, report: Report) -> Alignment | None:
    """The alignment of two of a report's graphs; None for graphs that cannot be paired.

    Two engines' last stages are aligned in the report, perhaps the other way round. Other stages
    are aligned here, each pair once a server.
    """
    if left.engine == right.engine or not has_values(left) or not has_values(right):
        return None
    alignment = reported(left, right, report.graphs, report.alignments)
    if alignment:
        return alignment
    with st.spinner(_("Pairing the nodes …"), show_time=True):
        return _aligned(digest_of_graph(left), digest_of_graph(right), left, right)


def digest_of_graph(graph: GradGraph) -> str:
    """The digest of a graph, as a key under which the server caches its drawings and alignments."""
    return hashlib.sha256(msgspec.msgpack.encode(graph)).hexdigest()


@st.cache_data(show_spinner=False, max_entries=64)
def _aligned(left_digest: str, right_digest: str, _left: GradGraph, _right: GradGraph) -> Alignment:
    # Streamlit leaves arguments that begin with an underscore out of the key.
    return align(_left, _right)

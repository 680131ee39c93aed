"""A report on a scenario as the files of its folder in the corpus."""

from explorer.model.engines import ENGINES
from explorer.model.report import Report
from tests.corpus.alignments import alignment_sections
from tests.corpus.cases import case_section
from tests.corpus.comparison import Section, text_of
from tests.corpus.graphs import graph_section, labels_of

Files = dict[str, str]
"""The text of each file of a scenario's folder, by the file's name."""

CASES, ALIGNMENTS = "cases.txt", "alignments.txt"


def corpus_files(report: Report) -> Files:
    """What was recorded of a scenario: graphs by framework, their alignments, and the cases."""
    file = f"{report.scenario}.py"
    graphs = {graph.engine: graph for graph in report.graphs}  # the last stage of each
    labels = {engine: labels_of(graph, file) for engine, graph in graphs.items()}
    by_file: dict[str, list[Section]] = {}
    for engine, graph in graphs.items():
        sections = by_file.setdefault(f"{ENGINES[engine].framework}.txt", [])
        sections.append(graph_section(graph, labels[engine]))
    by_file[ALIGNMENTS] = alignment_sections(report.alignments, labels)
    cases = [case_section(case_report) for case_report in report.cases]
    about_the_nets = [f"{report.scenario}: {report.title}"]
    for finding in report.findings:
        expected = "expected" if finding.expected else "not expected"
        about_the_nets.append(f" finding {finding.kind} {' '.join(finding.names)} {expected}")
    about_the_nets += [f" no graph of {engine}" for engine in sorted(report.ungraphed)]
    by_file[CASES] = [about_the_nets, *sorted(cases)]
    return {name: text_of(sections) for name, sections in by_file.items()}

"""Faults between the records and what a reader gets: sentences, pages, drawings, the shell, the store."""

from tests.faults.fault import Fault

IN_FACES = (
    Fault(
        "an engine that raised is an exception to what the oracle says",
        "explorer/words/cases.py",
        "        if group.oracle_agrees is not None:\n",
        "        if True:\n",
        "tests/words/test_headlines.py"
        "::test_an_engine_without_an_answer_is_no_exception_to_what_the_oracle_says",
    ),
    Fault(
        "a table's caption is escaped twice",
        "explorer/blocks/html.py",
        '    return _tag_unless_empty("p", table.caption) + ',
        '    return _tag_unless_empty("p", _escaped(table.caption)) + ',
        "tests/blocks/test_escaped_once.py::test_a_browser_reads_each_text_as_it_was",
    ),
    Fault(
        "what was is under what is",
        "explorer/report/sweep.py",
        'later("Was"), later("Is"))',
        'later("Is"), later("Was"))',
        "tests/report/test_sweep_columns.py::test_a_change_is_from_what_was_to_what_is",
    ),
    Fault(
        "English in silence where a catalogue is missing",
        "explorer/text/language.py",
        "fallback=code == ENGLISH)",
        "fallback=True)",
        "tests/text/test_language.py::test_a_catalogue_that_is_missing_is_an_error_and_not_english",
    ),
    Fault(
        "the store's entries by when they were made",
        "explorer/store/store.py",
        "key=lambda entry: entry.used, reverse=True",
        "key=lambda entry: entry.made, reverse=True",
        "tests/store/test_store.py::test_entries_come_last_used_first",
    ),
    Fault(
        "a study that ran out of time ends as if it were whole",
        "explorer/cli/study.py",
        'in (*LOST, "not_asked")',
        "in LOST",
        "tests/topics/test_studies.py::test_a_measurement_that_time_did_not_reach_is_lost",
    ),
    Fault(
        "each side is read where the other one has come to a quantity",
        "explorer/compare/align/one_sided.py",
        "                return own_place, other_place\n",
        "                return other_place, own_place\n",
        "tests/compare/test_rows_of_ops.py::test_each_side_is_read_where_it_has_come_to_the_quantity",
    ),
    Fault(
        "two graphs at the depth at which one fits",
        "explorer/drawing/shown.py",
        "    return Folding(min(depths, default=None))\n",
        "    return Folding(max(depths, default=None))\n",
        "tests/drawing/test_depth.py::test_of_two_graphs_at_one_depth_both_fit",
    ),
    Fault(
        "a thumbnail has edges that are an order only",
        "explorer/drawing/views.py",
        ' if wire.kind != "control"]',
        "]",
        "tests/drawing/test_order_only.py::test_a_thumbnail_has_edges_for_values_alone",
    ),
    Fault(
        "two devices' pictures in one file",
        "explorer/documents/contents.py",
        '("case", "view", "depth", "stage", "device")',
        '("case", "view", "depth", "stage")',
        "tests/documents/test_pictures.py::test_pictures_that_differ_are_files_of_their_own",
    ),
    Fault(
        "a document's diff is always made on the CPU",
        "explorer/documents/contents.py",
        '        device=shown.options.get("device", "cpu"),\n        fresh=way.fresh,\n    )\n',
        "        fresh=way.fresh,\n    )\n",
        "tests/documents/test_pictures.py::test_an_option_changes_what_is_asked_for",
    ),
    Fault(
        "an expected divergence is where an assertion says that nets differ",
        "explorer/api/assertions.py",
        "        if alignment.divergence and not alignment.expected and left and right:\n",
        "        if alignment.divergence and left and right:\n",
        "tests/api/test_assertion_message.py"
        "::test_a_divergence_that_is_expected_is_not_where_the_nets_differ",
    ),
    Fault(
        "an assertion counts a rest of no cases",
        "explorer/api/assertions.py",
        "    if len(different) > MOST_CASES:\n",
        "    if len(different) >= MOST_CASES:\n",
        "tests/api/test_assertion_message.py::test_a_message_lists_a_few_cases_and_counts_the_rest",
    ),
    Fault(
        "a card in the language of whoever saw it first",
        "explorer/web/cards.py",
        "def _scenario_card(path: str, digest: str, language: str) -> AboutScenario:\n    try:\n",
        "def _scenario_card(path: str, digest: str, _language: str) -> AboutScenario:\n"
        "    language = _language\n    try:\n",
        "tests/web/test_cards_in_languages.py::test_a_card_is_in_the_language_of_its_reader",
    ),
    Fault(
        "the command of a picture forgets its device",
        "explorer/report/scenario/export.py",
        '            ("--device", self.device, "cpu"),\n',
        "",
        "tests/report/test_export_command.py::test_a_picture_s_command_has_every_choice",
    ),
    Fault(
        "a stored study of a device that may be gone",
        "explorer/topics/studies.py",
        "    if target.device != CPU:\n        return None\n    measured = stored(",
        "    measured = stored(",
        "tests/exploration/test_stored_studies.py"
        "::test_what_is_stored_of_a_device_is_told_of_the_cpu_alone",
    ),
    Fault(
        "a state that is moved alone has no name",
        "explorer/drawing/cards.py",
        'path = "".join(names[:1]).rpartition(".")[0]',
        'path = "".join(names[:1])',
        "tests/drawing/test_state.py::test_a_state_that_is_moved_alone_has_its_name",
    ),
    Fault(
        "--prove is forgotten",
        "explorer/exploration/options.py",
        'prove="all" if self.prove else "small"',
        'prove="small"',
        "tests/exploration/test_options.py::test_an_option_changes_what_is_wanted_and_nothing_else",
    ),
    Fault(
        "results of hidden NPUs for those that are in sight",
        "explorer/store/keys.py",
        '"ASCEND_RT_VISIBLE_DEVICES", ',
        "",
        "tests/store/test_keys.py::test_whatever_says_which_devices_are_there_is_in_every_key",
    ),
    Fault(
        "the last stage's pair numbers on the nodes of an earlier one",
        "explorer/cli/graph.py",
        "report.alignments if are_last else ()",
        "report.alignments",
        "tests/cli/test_graph_stages.py"
        "::test_pairs_have_numbers_where_both_graphs_are_the_last_ones",
    ),
    Fault(
        "milliseconds for seconds in JUnit",
        "explorer/report/junit.py",
        '        time=f"{row.seconds:.3f}",\n',
        '        time=f"{1000 * row.seconds:.3f}",\n',
        "tests/report/test_sweep_columns.py"
        "::test_continuous_integration_gets_the_seconds_of_each_job",
    ),
    Fault(
        "a bar that is as long as its last stage",
        "explorer/web/progress.py",
        "        done_in_all += done\n",
        "        done_in_all = done\n",
        "tests/web/test_progress_text.py"
        "::test_the_bar_is_as_long_as_the_part_that_is_done_of_all_stages",
    ),
    Fault(
        "a line of source more behind than before",
        "explorer/pair/details.py",
        "min(len(texts), at + AROUND)",
        "min(len(texts), at + AROUND + 1)",
        "tests/pair/test_source_lines.py::test_as_many_lines_are_shown_before_a_line_as_behind_it",
    ),
    Fault(
        "the first two graphs in the order of the report",
        "explorer/report/scenario/graphs.py",
        "    chosen = [last[engine] for engine in SHOWN_ENGINES if engine in last]\n",
        "    chosen = [last[engine] for engine in last if engine in SHOWN_ENGINES]\n",
        "tests/report/test_first_graphs.py::test_the_contrast_that_is_shown_first_has_one_order",
    ),
    Fault(
        "graphs that are missing are not in a sweep's row",
        "explorer/sweep/rows.py",
        "    for engine, problem in report.ungraphed.items():\n"
        "        yield words.no_graph(engine, why_no_graph(problem))\n",
        "",
        "tests/sweep/test_job.py::test_a_row_says_which_graphs_are_missing_and_why",
    ),
    Fault(
        "what was never finished stays in the store for ever",
        "explorer/store/store.py",
        '            for path in self.folder.glob(f"*/*{UNFINISHED}"):\n'
        "                path.unlink(missing_ok=True)\n",
        "",
        "tests/store/test_store.py"
        "::test_clearing_removes_what_was_never_finished_and_does_not_count_it",
    ),
    Fault(
        "PyTorch is named where MindSpore's worker was lost",
        "explorer/exploration/outcomes.py",
        "lost.setdefault(ENGINES[key.engine].framework, outcome)",
        'lost.setdefault("torch", outcome)',
        "tests/exploration/test_lost_noise.py"
        "::test_a_remark_names_the_framework_whose_worker_was_lost",
    ),
    Fault(
        "two values that are kept are one",
        "explorer/drawing/views.py",
        "    if len(saved) > 1:\n",
        "    if len(saved) > 2:\n",
        "tests/drawing/test_counts.py::test_a_picture_counts_its_nodes_and_what_is_kept",
    ),
    Fault(
        "the other net's lines in no order",
        "explorer/report/scenario/code_lines.py",
        "partners.get(place, Counter()).most_common()",
        "partners.get(place, Counter()).items()",
        "tests/report/test_code_lines.py::test_of_the_other_side_s_lines_that_with_most_pairs_comes_first",
    ),
    Fault(
        "a weight that backward reads is in a card of its own",
        "explorer/drawing/folding.py",
        "    return in_forward or readers\n",
        "    return readers\n",
        "tests/drawing/test_leaf_cards.py::test_a_bias_and_the_weight_that_backward_reads_as_well_are_in_one_card",
    ),
    Fault(
        "a pair compares one output of both sides",
        "explorer/pair/details.py",
        "_array(right, pair.right_output)",
        "_array(right, pair.left_output)",
        "tests/pair/test_node_detail.py::test_a_pair_compares_the_output_that_each_side_is_paired_by",
    ),
    Fault(
        "an assertion that ran out of time passes",
        "explorer/api/assertions.py",
        "    if any(_not_run(report)):\n        return False\n",
        "",
        "tests/api/test_assertion_message.py::test_an_assertion_fails_where_cases_that_it_is_about_were_not_run",
    ),
    Fault(
        "a name stays in the address when its box is gone",
        "explorer/web/links.py",
        "if name not in before and name not in shown}",
        "if name not in shown}",
        "tests/web/test_links.py::test_a_name_that_a_page_shows_no_longer_leaves_the_address",
    ),
    Fault(
        "a link's address is escaped twice",
        "explorer/blocks/html.py",
        '_tag("a", text, href=span.link)',
        '_tag("a", text, href=escape(span.link))',
        "tests/blocks/test_escaped_once.py::test_a_browser_follows_a_link_as_it_was",
    ),
)

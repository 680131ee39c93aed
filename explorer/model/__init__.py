"""Plain records of cases, results, graphs, studies and reports, from which all else is built."""

"""Tests of what each shipped scenario teaches; a file or a parameter is named after its scenario."""

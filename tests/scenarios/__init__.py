"""Tests of what each shipped scenario teaches; a file is named after its scenario."""

"""The tests; a package, so that workers can import what the tests have them run."""

"""A sweep as a table on a terminal, as JSON, as HTML, and as JUnit's XML."""

"""Worker processes: everything that imports a framework runs in one, within a time limit."""

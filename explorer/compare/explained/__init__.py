"""What explains the divergences of two graphs: causes that are tried, and what is behind as if mended."""

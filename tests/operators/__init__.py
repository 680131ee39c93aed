"""The table of correspondences against the frameworks."""

"""Many scenarios at once: each job in a process of its own, here or on a cluster's machines."""

"""Two records, metric by metric: what differs, and whether a difference was shown."""

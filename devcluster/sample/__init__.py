"""Sample data: the cluster of a web shop with some months of history and typical problems."""

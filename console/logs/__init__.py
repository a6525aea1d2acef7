"""Container logs: reading with the viewer's permissions, filtering, pages, downloads and following."""

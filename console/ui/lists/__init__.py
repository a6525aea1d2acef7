"""Lists of objects: columns, filters, sorting, export."""

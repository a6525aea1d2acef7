"""Views of lists that people saved: names for addresses."""

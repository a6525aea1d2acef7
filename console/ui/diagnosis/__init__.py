"""Problems of objects, their causes, and recent changes."""

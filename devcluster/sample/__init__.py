"""The sample world: a shop's cluster that has been lived in, with the troubles that go with it."""

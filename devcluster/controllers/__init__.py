"""The simulated controllers: each makes one kind of thing so, whenever it is not."""

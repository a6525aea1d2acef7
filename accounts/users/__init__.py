"""Users and groups: how they are found, written and looked after by controllers."""

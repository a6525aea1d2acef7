"""Password sign-in and the sessions it creates."""

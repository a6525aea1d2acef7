"""One file for each kind of identity provider, which registers itself. `accounts.apps` imports all."""

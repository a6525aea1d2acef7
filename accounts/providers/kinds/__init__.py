"""Identity provider types. Each module registers one type; `accounts.apps` imports all of them."""

"""What the console does for somebody over minutes: how far it is, so that every process can show it and
end it, and another can go on where one has died (ADR 15)."""

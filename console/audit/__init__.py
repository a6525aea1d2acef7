"""The audit trail: who did what, as whom, to which object, from where, and what came of it."""

"""The second factor: one-time codes by time (TOTP, RFC 6238), and recovery codes for a lost phone.

Whose password is checked here shows a code after it; a session that has not shown one is nobody's. Each
code is good for one use on all replicas together, and wrong ones are counted before they are compared,
apart from wrong passwords (`accounts.protection.attempts`). The secret is encrypted at rest, recovery
codes are kept as hashes.

Callers must not ask whether a code is right but through `register.check_code`, which counts.
"""

"""Second factor: time-based one-time passwords (TOTP, RFC 6238) and recovery codes.

A user whose password is checked by the console must enter a code afterwards; until then, the
session has no user. Each code can be used once across all replicas. Wrong codes are counted
before they are compared, separately from wrong passwords (`accounts.protection.attempts`). The
secret is encrypted at rest, recovery codes are stored as hashes.

Check codes only with `register.check_code`, which counts attempts.
"""

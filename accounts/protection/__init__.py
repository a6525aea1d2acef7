"""Protection against password guessing, and revocation of sessions and tokens.

Failed attempts are counted in SQL while the attempt is processed (`attempts`). Their results are
stored as LoginRecords (`records`, `retention`). `signins` lists the browsers a user is signed in
with, and `endings` revokes sessions and tokens when a user is disabled or deleted.
"""

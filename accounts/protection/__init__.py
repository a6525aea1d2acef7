"""Against guessing, and for ending what somebody should not have any more.

Failed attempts are counted in SQL, in step with the attempt (`attempts`); what becomes of them is kept as
LoginRecords (`records`, `retention`). Which browsers are signed in as whom is in `signins`, and `endings`
ends all of it when the user may not be signed in any more.
"""

"""API tokens that people make for themselves: each with a name, an end and a scope, shown once.

A token is random and kept as a hash. It belongs to one User, by uid, and to the password of then, like
every token (`accounts.oauth.holders`), so it ends with either; and it ends when an administrator ends all
that the user has. It is no sign-in: it makes no other tokens, and does not open the own account.

A token that only reads is refused with every method that could change something, and is never vouched
for to kube-apiserver, which could not hold it to that.
"""

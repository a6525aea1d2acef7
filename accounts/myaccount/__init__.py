"""What people see and change of their own account.

Nobody has a right to their own User in Kubernetes: these pages write as the console, for the account that
is signed in and never for another, and change nothing but what each of them names.
"""

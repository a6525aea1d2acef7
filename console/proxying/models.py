"""Database table of open ports.

A row grants no access: session and permission are checked on each request. The row is deleted
when the port is closed. The audit log keeps a record.
"""

from django.db import models
from django.utils import timezone


class Opening(models.Model):
    """An open port.

    `label`: first label of the host name. `account`: owner of the session. `as_user`: username
    for kube-apiserver. `ticket`, `cookie`: hashes of the one-time ticket and the cookie, "" if
    not set. `audit_id`: ID of the audit record of the opening. `used`: approximate time of the
    last use.
    """

    label = models.CharField(max_length=32, primary_key=True)
    account = models.CharField(max_length=253, db_index=True)
    as_user = models.CharField(max_length=253)
    session = models.CharField(max_length=40)
    cluster = models.CharField(max_length=63)
    resource = models.CharField(max_length=63)
    namespace = models.CharField(max_length=253)
    name = models.CharField(max_length=253)
    port = models.PositiveIntegerField()
    scheme = models.CharField(max_length=5)
    audit_id = models.CharField(max_length=36)
    ticket = models.CharField(max_length=64, blank=True)
    ticket_until = models.DateTimeField()
    cookie = models.CharField(max_length=64, blank=True)
    began = models.DateTimeField(default=timezone.now)
    used = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.account} {self.resource} {self.namespace}/{self.name}:{self.port}"

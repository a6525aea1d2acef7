"""One table: which ports are open for which session. A row grants nothing: session and right are asked
for at each request. It goes with its end; that it was there is in the audit trail."""

from django.db import models
from django.utils import timezone


class Opening(models.Model):
    """`label`: its host name's first part. `account`: whose session it is; `as_user`: whom kube-apiserver
    sees. `ticket` and `cookie`: hashes of what the browser shows once, and then each time, "" for none.
    `audit_id`: of the record of its beginning. `used`: about when it was last."""

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

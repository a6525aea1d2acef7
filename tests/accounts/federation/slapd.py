"""A temporary OpenLDAP server on the loopback interface, independent of the system's configuration."""

import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.controlplane.pki import Authority
from tests.controlplane.waiting import eventually
from tests.support.ports import free_port

PROGRAM = "/usr/sbin/slapd"
_MODULES = Path("/usr/lib/ldap")
_SCHEMAS = Path("/etc/ldap/schema")

BASE = "dc=example,dc=com"
MANAGER, MANAGER_PASSWORD = f"cn=manager,{BASE}", "manager-secret"
PASSWORD = "P@88w0rd"

_CONFIG = """
include {schemas}/core.schema
include {schemas}/cosine.schema
include {schemas}/inetorgperson.schema
modulepath {modules}
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCACertificateFile {ca}
TLSCertificateFile {certificate}
TLSCertificateKeyFile {key}
# Passwords may come over plain LDAP here alone: the refusal of StartTLS is tested elsewhere.
database mdb
suffix {base}
rootdn {manager}
rootpw {password}
directory {folder}/data
maxsize 16777216
dbnosync
access to attrs=userPassword by anonymous auth by * none
access to * by * read
"""


def missing() -> str:
    """Return why slapd is not available, or ""."""
    return "" if Path(PROGRAM).exists() else "slapd is missing (sh scripts/debian.sh slapd)"


def _person(uid: str, mail: str = "", unit: str = "people", **more: str) -> str:
    lines = [
        f"dn: uid={uid},ou={unit},{BASE}",
        "objectClass: inetOrgPerson",
        f"uid: {uid}",
        f"cn: {uid}",
        f"sn: {uid}",
        f"userPassword: {PASSWORD}",
        *([f"mail: {mail}"] if mail else []),
        *(f"{name}: {value}" for name, value in more.items()),
    ]
    return "\n".join(lines)


_ENTRIES = "\n\n".join(
    [
        f"dn: {BASE}\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example",
        *(
            f"dn: ou={unit},{BASE}\nobjectClass: organizationalUnit\nou: {unit}"
            for unit in ("people", "former", "groups")
        ),
        _person("jane", "jane@example.com"),
        _person("Mixed.Case", "mixed@example.com", employeeType="staff"),
        _person("admin", "root@example.com"),
        _person("no-mail"),
        # Names with LDAP filter characters.
        _person("lee (it)", displayName="*"),
        # Two entries in the tree, one of them among the people.
        _person("twin", "a@example.com"),
        _person("twin", "b@example.com", "former"),
        f"dn: cn=console,ou=groups,{BASE}\nobjectClass: groupOfNames\ncn: console\n"
        f"member: uid=jane,ou=people,{BASE}\nmember: uid=lee (it),ou=people,{BASE}",
        f"dn: cn=others,ou=groups,{BASE}\nobjectClass: groupOfNames\ncn: others\n"
        f"member: uid=no-mail,ou=people,{BASE}",
    ]
)


class OpenLDAP:
    """OpenLDAP server. `port` serves LDAP with StartTLS, `tls_port` LDAPS, and `ca` is the CA
    certificate.
    """

    def __init__(self) -> None:
        self.port, self.tls_port = free_port(), free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="quarterdeck-slapd-"))
        authority = Authority(self.folder)
        self.ca = authority.certificate
        pair = authority.server("slapd", hosts=["ldap.example.com"], addresses=["127.0.0.1"])
        (self.folder / "data").mkdir()
        self._config = self.folder / "slapd.conf"
        self._config.write_text(
            _CONFIG.format(
                schemas=_SCHEMAS,
                modules=_MODULES,
                folder=self.folder,
                ca=self.ca,
                certificate=pair.certificate,
                key=pair.key,
                base=BASE,
                manager=MANAGER,
                password=MANAGER_PASSWORD,
            )
        )
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        subprocess.run(
            [PROGRAM, "-T", "add", "-f", str(self._config)],
            input=_ENTRIES.encode(),
            check=True,
            capture_output=True,
        )
        addresses = f"ldap://127.0.0.1:{self.port}/ ldaps://127.0.0.1:{self.tls_port}/"
        with (self.folder / "log").open("ab") as log:
            # -d keeps the process in the foreground.
            self._process = subprocess.Popen(
                [PROGRAM, "-d", "stats", "-f", str(self._config), "-h", addresses],
                stdout=log,
                stderr=log,
            )
        eventually(self._listens, "slapd listens")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=20)
        shutil.rmtree(self.folder)

    def log(self) -> str:
        """Return the server's log of binds, searches and StartTLS."""
        return (self.folder / "log").read_text(errors="replace")

    def _listens(self) -> bool:
        def answers(port: int) -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        return answers(self.port) and answers(self.tls_port)

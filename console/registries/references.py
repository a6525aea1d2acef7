"""Names of images, and the registries that they come from."""

import re
from dataclasses import dataclass, replace
from typing import Self

#: https://github.com/distribution/reference
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_REPOSITORY = re.compile(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*")
_REGISTRY = re.compile(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")

DOCKER_HUB = "docker.io"
#: The host that serves the images of Docker Hub, and the other names of Docker Hub.
_DOCKER_HUB_HOST = "registry-1.docker.io"
_DOCKER_HUB_NAMES = {"index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}
MAX_LENGTH = 512


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def registry_of(address: str) -> str:
    """Return `host[:port]` of an address of a registry, which may be a URL. Return "" if it is not
    valid.
    """
    found = address.strip().partition("://")[2] or address.strip()
    host = found.partition("/")[0].lower()
    if host in _DOCKER_HUB_NAMES:
        return DOCKER_HUB
    return host if len(host) <= MAX_LENGTH and _REGISTRY.fullmatch(host) else ""


def split_port(registry: str) -> tuple[str, int | None]:
    """Return host and port of a registry."""
    host, colon, port = registry.rpartition(":")
    if not colon or not port.isdigit():
        return registry.strip("[]"), None
    return host.strip("[]"), int(port)


def served_at(registry: str) -> str:
    """Return `host[:port]` that serves a registry."""
    return _DOCKER_HUB_HOST if registry == DOCKER_HUB else registry


@dataclass(frozen=True, slots=True)
class ImageName:
    """The name of an image. `tag` and `digest` may be ""; then the tag is `latest`.

    - `registry`: `host[:port]`, `docker.io` if the name contains none.
    - `repository`: name in the registry, such as `library/nginx`.
    - `written`: the name without tag and digest, as it was entered.
    """

    registry: str
    repository: str
    tag: str
    digest: str
    written: str

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the parts of a name, or None if it is not valid."""
        if len(text) > MAX_LENGTH:
            return None
        named, at, digest = text.partition("@")
        head, slash, last = named.rpartition("/")
        last, colon, tag = last.partition(":")
        written = f"{head}{slash}{last}"
        first, more, rest = written.partition("/")
        if more and ("." in first or ":" in first or first == "localhost"):
            registry, repository = registry_of(first), rest
        else:
            registry, repository = DOCKER_HUB, written
        if registry == DOCKER_HUB and "/" not in repository:
            repository = f"library/{repository}"
        valid = (
            registry
            and _REPOSITORY.fullmatch(repository)
            and (not at or _DIGEST.fullmatch(digest))
            and (not colon or _TAG.fullmatch(tag))
        )
        return cls(registry, repository, tag, digest, written) if valid else None

    @property
    def version(self) -> str:
        """The digest or the tag to request."""
        return self.digest or self.tag or "latest"

    def tagged(self, tag: str) -> str:
        """Return the name with another tag."""
        return f"{self.written}:{tag}"

    def pinned(self, digest: str) -> str:
        """Return the name with a digest, which decides which image runs. The tag remains readable."""
        return f"{replace(self, digest='')}@{digest}"

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.written}{tag}{f'@{self.digest}' if self.digest else ''}"

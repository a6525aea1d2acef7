"""The image of a container, with what its registry says about it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from console.kube.errors import ApiError
from console.kube.gvr import NODES, SECRETS
from console.kube.names import is_dns_subdomain
from console.registries.client import ImageFacts
from console.registries.errors import NotInRegistry, RegistryError
from console.registries.logins import Login, find_login
from console.registries.lookups import lookups
from console.registries.references import ImageName, is_digest
from console.ui.wizard import fields
from console.ui.wizard.paths import ABSENT, Blocked, write_at
from console.ui.wizard.state import FieldScope, Question
from console.wizards.pod_paths import pod_of

#: Maximum number of image pull secrets that are read, of offered tags, and of tags in a message.
MAX_SECRETS, MAX_OFFERED, MAX_SHOWN = 20, 500, 10


@dataclass(frozen=True, slots=True)
class PortOffer:
    """A port that an image exposes and its container doesn't declare. `act` adds it."""

    label: str
    act: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageAnswer:
    """What a registry says about an image.

    - `severity`, `text`: whether the image was found, "done" or "warn".
    - `details`: platforms and the Secret that was used.
    - `digest`: digest of the image. `pin_act` adds it to the image's name, "" if it has one.
    - `command`, `user`: what the container runs by default.
    - `concern`: why no node can run the image.
    - `tags`: names of images to choose from.
    """

    severity: str = "done"
    text: str = ""
    details: str = ""
    digest: str = ""
    pin_act: str = ""
    ports: Sequence[PortOffer] = ()
    command: str = ""
    user: str = ""
    concern: str = ""
    tags: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, kw_only=True)
class ImageInput(fields.TextInput):
    """The image of a container. Buttons ask its registry, pin its digest and add its ports."""

    template: ClassVar[str] = "wizard/image.html"

    def apply(self, scope: FieldScope) -> None:
        super().apply(scope)
        name = f"{scope.prefix}{self.id}"
        if not scope.state.act.startswith(f"{name}."):
            return
        verb, _dot, given = scope.state.act.removeprefix(f"{name}.").partition(".")
        if verb in ("tags", "look"):
            template = "wizard/_tags.html" if verb == "tags" else "wizard/_image_answer.html"
            ask = _tags if verb == "tags" else _look
            scope.state.questions.append(Question(name, template, partial(ask, scope, name)))
        elif verb == "pin":
            self._pin(scope, given)
        elif verb == "port":
            with suppress(Blocked):
                _add_port(scope, given)

    def _pin(self, scope: FieldScope, digest: str) -> None:
        image = image_of(scope)
        if image is not None and is_digest(digest):
            self.write(scope, image.pinned(digest))


def image_of(scope: FieldScope) -> ImageName | None:
    found = scope.get("image")
    return ImageName.parse(found) if isinstance(found, str) else None


def _add_port(scope: FieldScope, text: str) -> None:
    """Add a port such as `8080` or `53/udp`. Raise `Blocked`."""
    digits, _slash, protocol = text.partition("/")
    held, port = scope.get("ports"), int(digits) if digits.isascii() and digits.isdigit() else 0
    if not 0 < port <= fields.MAX_PORT or protocol not in ("", "udp", "sctp"):
        return
    if held is not ABSENT and not isinstance(held, list):
        return
    more = {"protocol": protocol.upper()} if protocol else {}
    if text not in _declared(scope):
        added = {"containerPort": port, **more}
        write_at(scope.document, (*scope.base, "ports"), [*(held or ()), added])


def _declared(scope: FieldScope) -> set[str]:
    """Return the ports of the container, as images declare them."""
    found = set()
    for one in scope.mappings("ports"):
        protocol = str(one.get("protocol") or "TCP").lower()
        found.add(f"{one.get('containerPort')}{'' if protocol == 'tcp' else f'/{protocol}'}")
    return found


async def _login_for(scope: FieldScope, image: ImageName) -> Login | None:
    """Return the credentials for an image: those of the pod's image pull secrets, or of the project's
    if the pod has none. They are read as the viewer. Return None if the viewer may not read them.
    """
    context = scope.state.context
    named = [one.get("name") for one in pod_of(scope).mappings("imagePullSecrets")]
    main = FieldScope(scope.state).get("metadata", "namespace")
    namespace = main if isinstance(main, str) and main else context.namespace
    if not namespace:
        return None
    access = context.access
    client = access.cluster.runtime.as_user(access.identity)
    secrets: list[Any] = []
    with suppress(ApiError):
        if named:
            for name in [one for one in named if isinstance(one, str)][:MAX_SECRETS]:
                may_read = access.can("get", SECRETS, namespace=namespace, name=name)
                if may_read and is_dns_subdomain(name):
                    secrets.append(await client.get(SECRETS, namespace=namespace, name=name))
        elif access.can("list", SECRETS, namespace=namespace):
            selector = "type=kubernetes.io/dockerconfigjson"
            secrets += (await client.list_by_fields(SECRETS, selector, namespace))[:MAX_SECRETS]
    found = (find_login(one, image) for one in secrets)
    return next((one for one in found if one is not None), None)


def _node_platforms(scope: FieldScope) -> set[str]:
    """Return the platforms of the nodes that the viewer may see, such as `linux/amd64`."""
    nodes = [entry.projection for entry in scope.state.context.entries(NODES)]
    return {
        f"{'windows' if 'windows' in one.os.lower() else 'linux'}/{one.architecture}"
        for one in nodes
        if one.architecture
    }


async def _tags(scope: FieldScope, _name: str) -> ImageAnswer:
    """Offer the tags of the repository, once its name is complete."""
    text = scope.get("image")
    head, colon, start = text.rpartition(":") if isinstance(text, str) else ("", "", "")
    image = ImageName.parse(head) if colon and "/" not in start else None
    if image is None or image.digest or image.tag:
        return ImageAnswer()
    try:
        found = await lookups().tags(_viewer(scope), image, await _login_for(scope, image))
    except RegistryError:
        # The failure is shown when the user leaves the field.
        return ImageAnswer()
    return ImageAnswer(tags=_offered(image, found.tags, start))


def _offered(image: ImageName, tags: Sequence[str], start: str = "") -> list[str]:
    """Return names with tags that contain a text. Tags that start with it come first."""
    matching = [one for one in reversed(tags) if start in one]
    matching.sort(key=lambda one: not one.startswith(start))
    return [image.tagged(one) for one in matching[:MAX_OFFERED]]


def _viewer(scope: FieldScope) -> str:
    return scope.state.context.access.identity.name


async def _look(scope: FieldScope, name: str) -> ImageAnswer:
    """Ask the registry about the image."""
    image = image_of(scope)
    if image is None:
        invalid = _("This is not the name of an image.") if scope.has("image") else ""
        return ImageAnswer(severity="warn", text=invalid)
    login, platforms = await _login_for(scope, image), _node_platforms(scope)
    architectures = {one.partition("/")[2] for one in platforms if one.startswith("linux/")}
    try:
        found = await lookups().image(_viewer(scope), image, login, architectures)
    except NotInRegistry as error:
        return ImageAnswer(
            severity="warn", text=str(error), details=await _latest_tags(scope, image, login)
        )
    except RegistryError as error:
        return ImageAnswer(severity="warn", text=str(error))
    declared = _declared(scope)
    return ImageAnswer(
        text=_("Image found."),
        details=_details(found, login),
        digest=found.digest,
        pin_act="" if image.digest else f"{name}.pin.{found.digest}",
        ports=[
            PortOffer(one.upper(), f"{name}.port.{one}")
            for one in found.ports
            if one not in declared
        ],
        command="" if scope.has("command") else " ".join(found.command),
        user=found.user,
        concern=_concern(found, platforms),
    )


async def _latest_tags(scope: FieldScope, image: ImageName, login: Login | None) -> str:
    """Return some tags of the repository in words, or ""."""
    try:
        found = await lookups().tags(_viewer(scope), image, login)
    except RegistryError:
        return ""
    tags = ", ".join([*reversed(found.tags)][:MAX_SHOWN])
    return _("Tags: %(tags)s") % {"tags": tags} if tags else ""


def _details(found: ImageFacts, login: Login | None) -> str:
    parts = [", ".join(found.platforms)] if found.platforms else []
    if login is not None and login.secret:
        parts.append(_("read with Secret %(name)s") % {"name": login.secret})
    return " · ".join(parts)


def _concern(found: ImageFacts, platforms: set[str]) -> str:
    if not found.platforms or not platforms or platforms.intersection(found.platforms):
        return ""
    words = {"image": ", ".join(found.platforms), "nodes": ", ".join(sorted(platforms))}
    return (
        _("No node can run this image: it is for %(image)s, and the nodes are %(nodes)s.") % words
    )

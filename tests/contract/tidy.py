"""Cleaning up, so that the clusters can be shared."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.contract.client import Client, Obj
from tests.contract.objects import NAMESPACES, unique
from tests.controlplane.waiting import eventually


@dataclass
class Scrap:
    """What a test leaves in no namespace."""

    admin: Client
    stack: ExitStack

    def create(self, collection: str, body: Obj) -> Obj:
        """Creates it as the administrator, to be deleted after the test."""
        made: Obj = self.admin.post(collection, body).ok()
        self.forget(f"{collection}/{made['metadata']['name']}")
        return made

    def forget(self, path: str) -> None:
        """Deletes that after the test, whether or not it is still there."""
        self.stack.callback(self.admin.delete, path)


@contextmanager
def temporary_namespace(admin: Client) -> Iterator[str]:
    """A namespace of a name of its own; it ends in the background."""
    name = unique("contract")
    admin.post(NAMESPACES, {"metadata": {"name": name}}).ok()
    yield name
    admin.delete(f"{NAMESPACES}/{name}")


def await_removal(admin: Client) -> None:
    """Returns when the temporary namespaces are gone. TimeoutError says what is left in them."""
    try:
        eventually(lambda: not _ours(admin), "the namespaces are gone", timeout=60)
    except TimeoutError as error:
        error.add_note("\n".join(_left(one) for one in _ours(admin)))
        raise


def _ours(admin: Client) -> list[Obj]:
    items = admin.get(NAMESPACES).ok()["items"]
    return [item for item in items if item["metadata"]["name"].startswith("contract-")]


def _left(namespace: Obj) -> str:
    conditions = namespace.get("status", {}).get("conditions", [])
    whys = [str(one.get("message")) for one in conditions if one.get("status") == "True"]
    return f"{namespace['metadata']['name']}: {'; '.join(whys)}"

"""Forms offer changes of other objects only with permission for those objects."""

from console.actions.data_keys.users import restart_offers
from console.actions.storage_classes import SetDefault
from console.kube import gvr as types
from console.kube.gvr import Key
from tests.ui.details.relations.shop import everything, named, subject_of, world
from tests.ui.support import FakeAccess, admin, bob


def test_restart_of_dependent_workloads_is_offered_with_permission() -> None:
    def offered(access: FakeAccess) -> list[str]:
        conf = Key("shop", "web-conf")
        found = restart_offers(subject_of(world(everything()), types.CONFIG_MAPS, conf, access))
        return [key for offer in found for key in offer.keys]

    assert "shop/web" in offered(admin())
    assert offered(bob()) == []


def test_removing_another_default_class_is_offered_with_permission() -> None:
    fast, slow = ({**named(name), "provisioner": "example"} for name in ("fast", "slow"))
    for one in (fast, slow):
        del one["metadata"]["namespace"]
    fast["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    classes, action = world({types.STORAGE_CLASSES: [fast, slow]}), SetDefault()
    for access, may in ((admin(), True), (bob(), False)):
        subject = subject_of(classes, types.STORAGE_CLASSES, Key("", "slow"), access)
        kept = (
            "You don't have permission to unset these storage classes as default: fast."
            in action.notes(subject)
        )
        form = action.make_form(subject, None)
        assert form is not None and (kept, "others" in form.fields) == (not may, may)

"""Access reviews, token reviews and self subject reviews, which are answered but not stored.

https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
"""

from collections.abc import Callable, Mapping

from devcluster.authn import UserInfo, user_from_json, with_authenticated
from devcluster.errors import bad_request, invalid, invalid_value, required
from devcluster.objects import Obj, dig, timestamp
from devcluster.rbac import Attributes, Rbac, Rule


class Reviews:
    """Handler of review requests. `answer` sets the status of a review."""

    def __init__(self, rbac: Rbac, find_token: Callable[[str], UserInfo | None]) -> None:
        self._rbac, self._find_token = rbac, find_token
        self._kinds: Mapping[str, Callable[[Obj, UserInfo, str], Obj]] = {
            "SelfSubjectAccessReview": self._self_access,
            "SubjectAccessReview": self._access,
            "LocalSubjectAccessReview": self._local_access,
            "SelfSubjectRulesReview": self._self_rules,
            "SelfSubjectReview": self._self,
            "TokenReview": self._token,
        }

    def answer(self, kind: str, review: Obj, user: UserInfo, namespace: str) -> Obj:
        review.setdefault("metadata", {"creationTimestamp": None})
        review["status"] = self._kinds[kind](review, user, namespace)
        return review

    def _self_access(self, review: Obj, user: UserInfo, _: str) -> Obj:
        return self._decide(review, user, "SelfSubjectAccessReview")

    def _access(self, review: Obj, _: UserInfo, __: str) -> Obj:
        spec = review.get("spec") or {}
        if not spec.get("user") and not spec.get("groups"):
            cause = required(
                "spec.user", "Required value: at least one of user or group must be specified"
            )
            raise invalid("authorization.k8s.io", "SubjectAccessReview", "", [cause])
        asked = user_from_json(spec)
        return self._decide(review, asked, "SubjectAccessReview")

    def _local_access(self, review: Obj, user: UserInfo, namespace: str) -> Obj:
        if dig(review, "spec.resourceAttributes.namespace") != namespace:
            raise bad_request(
                "spec.resourceAttributes.namespace must match namespace: " + namespace
            )
        return self._access(review, user, namespace)

    def _decide(self, review: Obj, user: UserInfo, kind: str) -> Obj:
        spec = review.get("spec") or {}
        resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
        if (resource is None) == (path is None):
            why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
            cause = invalid_value("spec.resourceAttributes", "", why)
            raise invalid("authorization.k8s.io", kind, "", [cause])
        decision = self._rbac.authorize(_attributes(user, resource, path))
        status: Obj = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        return status

    def _self_rules(self, review: Obj, user: UserInfo, _: str) -> Obj:
        namespace = dig(review, "spec.namespace")
        if not namespace:
            raise bad_request("no namespace on request")
        rules, problems = self._rbac.rules_for(user, namespace)
        status: Obj = {
            "resourceRules": [_resource_rule(rule) for rule in rules if not rule.paths],
            "nonResourceRules": [_path_rule(rule) for rule in rules if rule.paths],
            "incomplete": False,
        }
        if problems:
            status |= {"incomplete": True, "evaluationError": ", ".join(problems)}
        return status

    def _self(self, review: Obj, user: UserInfo, _: str) -> Obj:
        review["metadata"] = {"creationTimestamp": timestamp()}
        return {"userInfo": user.as_json()}

    def _token(self, review: Obj, _: UserInfo, __: str) -> Obj:
        token = dig(review, "spec.token")
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        user = self._find_token(token)
        if user is None:
            return {"user": {}, "error": "invalid bearer token"}
        return {"authenticated": True, "user": with_authenticated(user).as_json()}


def _attributes(user: UserInfo, resource: Obj | None, path: Obj | None) -> Attributes:
    if path is not None:
        return Attributes(user, path.get("verb", ""), path=path.get("path", ""))
    found = resource or {}
    return Attributes(
        user,
        found.get("verb", ""),
        found.get("group", ""),
        found.get("resource", ""),
        found.get("subresource", ""),
        found.get("namespace", ""),
        found.get("name", ""),
    )


def _resource_rule(rule: Rule) -> Obj:
    found = {
        "verbs": sorted(rule.verbs),
        "apiGroups": sorted(rule.groups),
        "resources": sorted(rule.resources),
    }
    return {**found, "resourceNames": sorted(rule.names)} if rule.names else found


def _path_rule(rule: Rule) -> Obj:
    return {"verbs": sorted(rule.verbs), "nonResourceURLs": sorted(rule.paths)}

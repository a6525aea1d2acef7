"""Signing keys: creation, rotation, removal and encryption at rest."""

import io
import json
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from pytest_django import Settings

from accounts.models import AccessToken, SigningKey
from accounts.oauth import keys
from tests.accounts.oauth.conftest import Program, claims_of
from tests.rbac.fakes import MovableClock

pytestmark = pytest.mark.django_db(transaction=True)


async def published(program: Program) -> list[str]:
    found = (await program.get("/oauth/keys")).json()["keys"]
    return [key["kid"] for key in found]


async def of(program: Program) -> tuple[str, str]:
    """Return a new token and the ID of its signing key."""
    token = (await program.signed_in())["access_token"]
    return token, claims_of(token, 0)["kid"]


async def command(*arguments: str) -> str:
    out = io.StringIO()
    await sync_to_async(call_command)("oauth_keys", *arguments, stdout=out)
    return out.getvalue()


async def test_the_jwks_contains_only_public_keys(program: Program) -> None:
    await of(program)
    answer = await program.get("/oauth/keys")
    found = answer.json()["keys"]
    assert {key["alg"] for key in found} == {"ES256", "RS256"}
    for key in found:
        private = {"d", "p", "q", "dp", "dq", "qi", "k", "oth"}
        assert not private & key.keys()
        assert key["use"] == "sig"
    assert await published(program) == [key["kid"] for key in found]


async def test_private_keys_are_encrypted_in_the_database(program: Program) -> None:
    await of(program)
    row = await SigningKey.objects.aget(purpose="access")
    private = keys._unsealed(row.private, "access", str(django_settings.SECRET_KEY))
    secret = private.as_dict(private=True)["d"]
    kept = json.dumps([row.private, row.public])
    assert "PRIVATE" not in kept
    assert str(secret) not in kept
    assert row.private.count(".") == 4


async def test_a_rotation_keeps_the_old_key_for_verification(
    program: Program, clock: MovableClock
) -> None:
    old, old_key = await of(program)
    listed = await command("rotate")
    assert listed.count("signing") == 2
    new, new_key = await of(program)
    assert new_key != old_key
    assert {old_key, new_key} <= set(await published(program))
    assert await program.works(old)
    assert await program.works(new)
    clock.move(hours=2, minutes=2)
    assert old_key not in await published(program)
    assert new_key in await published(program)
    assert not await program.works(old)


async def test_keys_are_rotated_automatically(program: Program, clock: MovableClock) -> None:
    _, first = await of(program)
    clock.time += keys.ROTATE_AFTER - timedelta(seconds=1)
    assert (await of(program))[1] == first
    clock.move(seconds=1)
    token, second = await of(program)
    assert second != first
    assert {first, second} <= set(await published(program))
    assert await program.works(token)


async def test_removing_a_key_revokes_its_tokens(program: Program) -> None:
    token, kid = await of(program)
    refresh = (await program.signed_in())["refresh_token"]
    assert kid not in await command("remove", kid)
    assert not await program.works(token)
    assert await AccessToken.objects.acount() == 0
    again = await program.refresh(refresh)
    assert await program.works(again.json()["access_token"])
    assert kid not in await published(program)
    with pytest.raises(CommandError):
        await command("remove", kid)


async def test_a_key_id_that_starts_with_a_dash_can_be_removed(program: Program) -> None:
    """About one in sixty key IDs starts with a dash."""
    _, kid = await of(program)
    key = await SigningKey.objects.aget(kid=kid)
    key.kid = "-vhAt"
    await key.asave(force_insert=True)
    assert "-vhAt" not in await command("remove", "-vhAt")
    with pytest.raises(CommandError, match="Key --kid not found"):
        await command("remove", "--kid")


async def test_a_new_secret_key_creates_new_signing_keys(
    program: Program, settings: Settings
) -> None:
    """Tokens signed with old keys remain valid. User sessions end nevertheless, because their
    password mark depends on the secret.
    """
    _, first = await of(program)
    settings.SECRET_KEY = "another-" + "x" * 40
    token, second = await of(program)
    assert second != first
    assert await program.works(token)
    assert (await of(program))[1] == second
    assert first in await published(program)


async def test_replicas_with_different_secrets_keep_each_others_keys(
    program: Program, settings: Settings
) -> None:
    secrets = ["a" * 40, "b" * 40]
    seen = []
    for _ in range(3):
        for secret in secrets:
            settings.SECRET_KEY = secret
            seen.append((await of(program))[1])
    assert len(set(seen)) == 2


async def test_a_key_is_for_one_kind_of_token(program: Program) -> None:
    _, kid = await of(program)
    find = sync_to_async(keys.verifying_key)
    now = MovableClock().now()
    assert await find(kid, keys.ACCESS, now) is not None
    assert await find(kid, keys.IDENTITY, now) is None
    assert await find("A" * 43, keys.ACCESS, now) is None

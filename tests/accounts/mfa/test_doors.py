"""Every sign-in method with a password also requires the second factor."""

import base64
from typing import Any

import pytest

from accounts.models import Grant
from tests.accounts.conftest import PASSWORD
from tests.accounts.mfa.conftest import Enrolled
from tests.accounts.oauth.conftest import Config, Program, authorize_url

pytestmark = pytest.mark.django_db(transaction=True)


async def answer_of(program: Program, **fields: str) -> tuple[int, str]:
    answer = await program.login("alice", **fields)
    return answer.status_code, answer.json().get("error", "")


async def test_the_password_grant_takes_a_code(alice: Enrolled, program: Program) -> None:
    assert await answer_of(program) == (400, "mfa_required")
    answer = await program.login("alice")
    assert "totp" in answer.json()["error_description"]
    assert await answer_of(program, totp="000000") == (400, "invalid_grant")
    assert await Grant.objects.acount() == 0
    code = alice.app.code()
    tokens = (await program.login("alice", totp=code)).json()
    assert await program.works(tokens["access_token"])
    assert await answer_of(program, totp=code) == (400, "invalid_grant")
    assert await answer_of(program, totp=alice.codes[0]) == (200, "")
    assert await answer_of(program, totp=alice.codes[0]) == (400, "invalid_grant")
    # A refresh is not a new sign-in.
    assert (await program.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_wrong_password_does_not_reveal_the_second_factor(
    alice: Enrolled, program: Program
) -> None:
    wrong = await program.login("alice", "wrong", totp=alice.app.code())
    unknown = await program.login("nobody", "wrong")
    assert wrong.json() == unknown.json()
    # The code was not used up.
    assert await answer_of(program, totp=alice.app.code()) == (200, "")


async def test_attempts_of_the_password_grant_and_browsers_are_counted_together(
    alice: Enrolled, program: Program
) -> None:
    for _ in range(10):
        assert await answer_of(program, totp="000000") == (400, "invalid_grant")
    answer = await program.login("alice", totp=alice.app.code())
    assert answer.status_code == 429 and int(answer["Retry-After"]) > 0


async def test_basic_authentication_is_refused_with_a_second_factor(
    alice: Enrolled, program: Program
) -> None:
    basic = "Basic " + base64.b64encode(f"alice:{PASSWORD}".encode()).decode()
    answer = await program.get(authorize_url(), Authorization=basic)
    assert answer.status_code == 401
    bob = "Basic " + base64.b64encode(f"bob:{PASSWORD}".encode()).decode()
    assert (await program.get(authorize_url(), Authorization=bob)).status_code == 302


async def test_a_required_factor_blocks_clients_until_it_is_set_up(
    config: Config, program: Program
) -> None:
    config.write(secondFactor="required")
    answer: Any = await program.login("bob")
    assert (answer.status_code, answer.json()["error"]) == (400, "mfa_required")
    assert "set it up in the console" in answer.json()["error_description"]
    basic = "Basic " + base64.b64encode(f"bob:{PASSWORD}".encode()).decode()
    assert (await program.get(authorize_url(), Authorization=basic)).status_code == 401


async def test_no_access_token_is_issued_without_a_code(alice: Enrolled, program: Program) -> None:
    from_password = await program.login("alice")
    assert from_password.status_code == 400
    assert "access_token" not in from_password.json()

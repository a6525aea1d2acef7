"""Every way in that takes a password wants the second factor too."""

import base64
from typing import Any

import pytest

from accounts.models import Grant
from tests.accounts.conftest import PASSWORD
from tests.accounts.factors.conftest import Enrolled
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
    # A refresh is no new sign-in.
    assert (await program.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_wrong_password_says_nothing_of_the_factor(
    alice: Enrolled, program: Program
) -> None:
    wrong = await program.login("alice", "wrong", totp=alice.app.code())
    unknown = await program.login("nobody", "wrong")
    assert wrong.json() == unknown.json()
    # Nor was the code used up.
    assert await answer_of(program, totp=alice.app.code()) == (200, "")


async def test_guesses_lock_here_and_in_browsers_together(
    alice: Enrolled, program: Program
) -> None:
    for _ in range(10):
        assert await answer_of(program, totp="000000") == (400, "invalid_grant")
    answer = await program.login("alice", totp=alice.app.code())
    assert answer.status_code == 429 and int(answer["Retry-After"]) > 0


async def test_basic_has_no_place_for_a_code(alice: Enrolled, program: Program) -> None:
    basic = "Basic " + base64.b64encode(f"alice:{PASSWORD}".encode()).decode()
    answer = await program.get(authorize_url(), Authorization=basic)
    assert answer.status_code == 401
    bob = "Basic " + base64.b64encode(f"bob:{PASSWORD}".encode()).decode()
    assert (await program.get(authorize_url(), Authorization=bob)).status_code == 302


async def test_where_it_is_required_programs_wait_until_it_is_set_up(
    config: Config, program: Program
) -> None:
    config.write(secondFactor="required")
    answer: Any = await program.login("bob")
    assert (answer.status_code, answer.json()["error"]) == (400, "mfa_required")
    assert "set one up" in answer.json()["error_description"]
    basic = "Basic " + base64.b64encode(f"bob:{PASSWORD}".encode()).decode()
    assert (await program.get(authorize_url(), Authorization=basic)).status_code == 401


async def test_the_api_is_closed_to_a_session_that_owes_a_code(
    alice: Enrolled, program: Program
) -> None:
    from_password = await program.login("alice")
    assert from_password.status_code == 400
    assert "access_token" not in from_password.json()

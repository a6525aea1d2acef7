from console.kube.tokenbucket import TokenBucket
from console.live.limits import SocketCap


def test_bucket_permits_a_burst_and_then_a_steady_rate() -> None:
    bucket = TokenBucket(burst=3, per_second=2)
    assert [bucket.take(10.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.take(10.5)
    assert not bucket.take(10.5)
    assert [bucket.take(100.0) for _ in range(4)] == [True, True, True, False]


def test_bucket_is_not_refilled_if_the_clock_does_not_advance() -> None:
    bucket = TokenBucket(burst=1, per_second=1000)
    assert bucket.take(5.0)
    assert not bucket.take(5.0)
    assert not bucket.take(4.0)


def test_slots_are_counted_per_account() -> None:
    cap = SocketCap(most=2)
    assert [cap.enter("a") for _ in range(3)] == [True, True, False]
    assert cap.enter("b")
    cap.leave("a")
    assert cap.open("a") == 1
    assert cap.enter("a")
    assert not cap.enter("a")

"""Process metrics of the operating system. Empty on systems without /proc."""

from prometheus_client import ProcessCollector

process = ProcessCollector(registry=None)


def resident_bytes() -> int:
    """Return the resident memory in bytes, or 0 if it is unknown."""
    found = {family.name: family.samples for family in process.collect()}
    samples = found.get("process_resident_memory_bytes", ())
    return int(sum(sample.value for sample in samples))

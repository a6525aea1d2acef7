#!/usr/bin/env python3
"""Builds the container image as an OCI archive, and its bill of materials. Needs root on Debian, and no
container engine.

    scripts/image.py [--architecture amd64] [--tag NAME:TAG] [--push REGISTRY/NAME:TAG]

The image has four layers, so that most of it stays the same from one version to the next: Debian's
base with Python, the locked dependencies, the console, and the command. The archive and its digest
are the same for the same inputs: all times are `EPOCH`, and compiled files contain no times. The
base is kept in `build/image`; delete it to get Debian's current packages.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build" / "image"
LOCK = ROOT / "requirements" / "base.txt"
UV = ROOT / ".venv" / "bin" / "uv"
#: Time of all files in seconds since 1970: 2026-11-01.
EPOCH = 1793491200
#: uv's names of the platforms, by architecture.
PLATFORMS = {"amd64": "x86_64-manylinux_2_36", "arm64": "aarch64-manylinux_2_36"}
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
SECURITY = "http://security.debian.org/debian-security"
BASE = ("python3", "ca-certificates", "tzdata")
EXCLUDED = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
#: Large parts of packages that nothing imports: a second client, and a second compressor.
UNUSED = ("kubernetes/aio/**/*", "zstandard/_cffi*", "bin/*", ".lock", "*.dist-info/RECORD")
LIBRARY, APP = "opt/quarterdeck/packages", "opt/quarterdeck/console"
COMMAND = "#!/usr/bin/python3\nfrom quarterdeck.__main__ import main\n\nmain()\n"
#: The user that the process runs as: `nonroot` of other minimal images.
USER = 65532
STATE = "/var/lib/quarterdeck"
CONFIG = {
    "Entrypoint": ["/usr/local/bin/quarterdeck"],
    "Cmd": ["serve"],
    "User": f"{USER}:{USER}",
    "WorkingDir": STATE,
    "ExposedPorts": {"8000/tcp": {}, "8443/tcp": {}},
    "Env": [
        "PATH=/usr/local/bin:/usr/bin:/bin",
        f"PYTHONPATH=/{APP}:/{LIBRARY}",
        "PYTHONDONTWRITEBYTECODE=1",
        "PYTHONUNBUFFERED=1",
        f"HOME={STATE}",
        f"STATE_DIR={STATE}",
    ],
    "Labels": {"org.opencontainers.image.title": "Quarterdeck"},
}


def main() -> None:
    options = _options()
    if sys.version_info[:2] != (3, 11):
        sys.exit(f"The image's Python is 3.11: run this with it, not with {sys.version.split()[0]}")
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="image-") as name:
        folder = Path(name)
        layers = [
            base(options.architecture),
            packages(folder, options.architecture),
            console(folder),
            command(folder),
        ]
        archive = KEPT / f"quarterdeck-{options.architecture}.tar"
        digest, size = write_archive(archive, options.tag, options.architecture, layers)
    bill = archive.with_suffix(".cdx.json")
    write_bill(bill)
    print(f"{archive.relative_to(ROOT)}: {size / 1e6:.0f} MB, {digest}")  # noqa: T201
    print(f"{bill.relative_to(ROOT)}: bill of materials (CycloneDX)")  # noqa: T201
    if options.push:
        run(
            "skopeo",
            "copy",
            "--insecure-policy",
            f"oci-archive:{archive}",
            f"docker://{options.push}",
        )


def base(architecture: str) -> Path:
    """Return the layer with Debian's packages, which is built once."""
    layer = KEPT / f"debian-{SUITE}-{architecture}.tar"
    if not layer.exists():
        excluded = [f"--dpkgopt=path-exclude={one}" for one in EXCLUDED]
        copyright = "--dpkgopt=path-include=/usr/share/doc/*/copyright"
        sources = [f"deb {MIRROR} {SUITE} main", f"deb {MIRROR} {SUITE}-updates main",
                   f"deb {SECURITY} {SUITE}-security main"]  # fmt: skip
        made = layer.with_suffix(".new.tar")
        run("mmdebstrap", "--quiet", "--variant=minbase", f"--architectures={architecture}",
            f"--include={','.join(BASE)}", *excluded, copyright, SUITE, made, *sources)  # fmt: skip
        made.rename(layer)
    return layer


def packages(folder: Path, architecture: str) -> Path:
    """Return the layer with the locked dependencies."""
    target = folder / "packages"
    run(UV, "pip", "install", "--quiet", "--target", target, "--only-binary=:all:",
        "--python", sys.executable, "--python-platform", PLATFORMS[architecture],
        "--require-hashes", "-r", LOCK)  # fmt: skip
    for pattern in UNUSED:
        for path in target.glob(pattern):
            if path.is_file():
                path.unlink()
    compile_all(target, LIBRARY)
    return write_layer(folder / "packages.tar", tree(target, LIBRARY))


def console(folder: Path) -> Path:
    """Return the layer with the console, from its wheel."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist")
    target = folder / "console"
    [wheel] = (folder / "dist").iterdir()
    zipfile.ZipFile(wheel).extractall(target)  # noqa: S202  our own wheel
    compile_all(target, APP)
    return write_layer(folder / "console.tar", tree(target, APP))


def command(folder: Path) -> Path:
    """Return the layer with the command and the directory for its files."""
    script = tarfile.TarInfo("usr/local/bin/quarterdeck")
    script.mode, script.size = 0o755, len(COMMAND)
    state = tarfile.TarInfo(STATE.lstrip("/"))
    state.type, state.mode, state.uid, state.gid = tarfile.DIRTYPE, 0o700, USER, USER
    entries = [(script, COMMAND.encode()), (state, None)]
    return write_layer(folder / "command.tar", iter(entries))


def compile_all(folder: Path, place: str) -> None:
    """Compile all files below `folder`, which is `place` in the image. Python doesn't check whether
    a compiled file is older than its source, so the image's files can't be edited.
    """
    run(sys.executable, "-m", "compileall", "-q", "-s", folder, "-p", f"/{place}",
        "--invalidation-mode", "unchecked-hash", folder)  # fmt: skip


def tree(folder: Path, place: str) -> Iterator[tuple[tarfile.TarInfo, bytes | None]]:
    """Yield the directories and files below `folder` as entries below `place`."""
    parents = Path(place).parts
    for depth in range(1, len(parents) + 1):
        info = tarfile.TarInfo("/".join(parents[:depth]))
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        yield info, None
    for path in sorted(folder.rglob("*")):
        info = tarfile.TarInfo(f"{place}/{path.relative_to(folder)}")
        if path.is_dir():
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            yield info, None
        else:
            content = path.read_bytes()
            info.size, info.mode = len(content), 0o755 if os.access(path, os.X_OK) else 0o644
            yield info, content


def write_layer(path: Path, entries: Iterator[tuple[tarfile.TarInfo, bytes | None]]) -> Path:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for info, content in entries:
            info.mtime = EPOCH
            tar.addfile(info, None if content is None else io.BytesIO(content))
    return path


def write_archive(path: Path, tag: str, architecture: str, layers: list[Path]) -> tuple[str, int]:
    """Write an OCI image layout as one file. Return the digest of the manifest and the size of all
    compressed layers in bytes.
    """
    blobs: dict[str, bytes] = {}

    def blob(kind: str, content: bytes) -> dict[str, object]:
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {
            "mediaType": f"application/vnd.oci.image.{kind}",
            "digest": f"sha256:{digest}",
            "size": len(content),
        }

    described, contents = [], []
    for layer in layers:
        plain = layer.read_bytes()
        contents.append(f"sha256:{hashlib.sha256(plain).hexdigest()}")
        described.append(blob("layer.v1.tar+gzip", gzip.compress(plain, 9, mtime=0)))
    image = {
        "created": "2026-11-01T00:00:00Z",
        "os": "linux",
        "architecture": architecture,
        "config": CONFIG,
        "rootfs": {"type": "layers", "diff_ids": contents},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob("config.v1+json", _json(image)),
        "layers": described,
    }
    entry = blob("manifest.v1+json", _json(manifest))
    size = sum(len(content) for content in blobs.values())
    names = {
        "io.containerd.image.name": tag,
        "org.opencontainers.image.ref.name": tag.rpartition(":")[2],
    }
    index = {"schemaVersion": 2, "manifests": [entry | {"annotations": names}]}
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        layout = {"oci-layout": _json({"imageLayoutVersion": "1.0.0"}), "index.json": _json(index)}
        for name, content in (layout | blobs).items():
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(content), 0o644, EPOCH
            tar.addfile(info, io.BytesIO(content))
    return str(entry["digest"]), size


def write_bill(path: Path) -> None:
    """Write the bill of materials of the dependencies, from the lock file."""
    run(UV, "tool", "run", "--quiet", "--from", "cyclonedx-bom==7.5.0", "cyclonedx-py", "requirements",
        "--output-reproducible", "-o", path, LOCK)  # fmt: skip


def run(*command: object) -> None:
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)}
    subprocess.run([str(part) for part in command], cwd=ROOT, env=environment, check=True)  # noqa: S603


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the container image as an OCI archive.")
    parser.add_argument("--architecture", choices=PLATFORMS, default="amd64")
    parser.add_argument("--tag", default="localhost/quarterdeck:latest", help="name of the image")
    parser.add_argument("--push", default="", help="also push it to this name, with skopeo")
    return parser.parse_args()


if __name__ == "__main__":
    main()

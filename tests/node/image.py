"""The image of all pods on a real node: a static busybox."""

import hashlib
import io
import json
import platform
import subprocess
import tarfile
from pathlib import Path
from typing import Any

__all__ = ["IMAGE", "write_image"]

IMAGE = "localhost/busybox:1"

_MEDIA_TYPE = "application/vnd.oci.image"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_FOLDERS = ("bin", "dev", "etc", "proc", "root", "sys", "tmp")
#: The default command does nothing.
_COMMAND = ["/bin/sleep", "infinity"]


class _Blobs:
    """The files of an OCI image layout, named by their digest."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def add(self, kind: str, content: bytes) -> dict[str, Any]:
        """Add content and return its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {
            "mediaType": f"{_MEDIA_TYPE}.{kind}",
            "digest": f"sha256:{digest}",
            "size": len(content),
        }


def write_image(path: Path, busybox: Path) -> None:
    """Write an archive for `ctr images import`."""
    blobs = _Blobs()
    layer = blobs.add("layer.v1.tar", _layer(busybox))
    config = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {"Cmd": _COMMAND, "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_MEDIA_TYPE}.manifest.v1+json",
        "config": blobs.add("config.v1+json", json.dumps(config).encode()),
        "layers": [layer],
    }
    named = blobs.add("manifest.v1+json", json.dumps(manifest).encode())
    named["annotations"] = {"io.containerd.image.name": IMAGE}
    index = {"schemaVersion": 2, "manifests": [named]}
    with tarfile.open(path, "w") as tar:
        _file(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        _file(tar, "index.json", json.dumps(index).encode())
        for name, content in blobs.files.items():
            _file(tar, name, content)


def _layer(busybox: Path) -> bytes:
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for folder in _FOLDERS:
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            tar.addfile(info)
        _file(tar, "bin/busybox", busybox.read_bytes())
        for applet in applets.stdout.split():
            if applet != "busybox":
                link = tarfile.TarInfo(f"bin/{applet}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(link)
        _file(tar, "etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
        _file(tar, "etc/group", b"root:x:0:\n")
    return content.getvalue()


def _file(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o755
    tar.addfile(info, io.BytesIO(content))

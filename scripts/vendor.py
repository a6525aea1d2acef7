#!/usr/bin/env python3
"""Update the third-party front-end files in static/vendor/, or check them.

    vendor.py           fetch the packages pinned in vendor.toml, copy the used files, bundle
    those of
                        frontend/, write the manifest
    vendor.py --check   compare the files with the manifest; needs no network

A package that doesn't match its pinned integrity is rejected. Run the script with the
interpreter of the virtual environment, because some files come from installed Python packages.
"""

import argparse
import base64
import hashlib
import importlib.metadata
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "static" / "vendor"
MANIFEST = "manifest.json"


class VendorError(Exception):
    """An error that stops the run. Its text is shown to the user."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare files with the manifest")
    check = parser.parse_args().check
    try:
        problems = problems_in(TARGET) if check else []
        if not check:
            vendor()
    except VendorError as error:
        problems = [str(error)]
    for problem in problems:
        print(f"vendor: {problem}", file=sys.stderr)  # noqa: T201
    return 1 if problems else 0


def vendor() -> None:
    """Replace static/vendor/ after everything was fetched and verified."""
    plan = tomllib.loads((ROOT / "scripts" / "vendor.toml").read_text())
    with tempfile.TemporaryDirectory(prefix="vendor-") as temporary:
        work = Path(temporary)
        fresh = work / "out"
        unpacked = {p["name"]: fetch(p, work) for p in plan["package"]}
        entries = [entry for p in plan["package"] for entry in copy(p, unpacked[p["name"]], fresh)]
        entries.append(sprite(plan, unpacked, fresh))
        entries += [entry for p in plan["installed"] for entry in copy_installed(p, fresh)]
        folder = npm_ci(ROOT / plan["bundles"], work)
        entries += [entry for spec in plan["bundle"] for entry in bundle(spec, folder, fresh)]
        entries.sort(key=lambda entry: str(entry["file"]))
        (fresh / MANIFEST).write_text(json.dumps({"files": entries}, indent=2) + "\n")
        shutil.rmtree(TARGET, ignore_errors=True)
        shutil.copytree(fresh, TARGET)


def fetch(package: dict[str, Any], work: Path) -> Path:
    """Return the folder of an unpacked npm package after verifying its hash."""
    wanted = f"{package['name']}@{package['version']}"
    npm = shutil.which("npm")
    if npm is None:
        raise VendorError("npm is not installed; it fetches the packages")
    into = work / re.sub(r"\W", "-", wanted)
    into.mkdir()
    command = [npm, "pack", wanted, "--silent", "--pack-destination", str(into)]
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:  # noqa: S603
        raise VendorError(f"npm could not fetch {wanted}")
    archive = next(into.glob("*.tgz"))
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != package["integrity"]:
        raise VendorError(f"{wanted} does not match its pinned integrity: sha512-{digest}")
    with tarfile.open(archive) as tar:
        # Python before 3.11.4 has no extraction filters.
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
        tar.extractall(into)  # noqa: S202
    return into / "package"


def copy(package: dict[str, Any], source: Path, fresh: Path) -> list[dict[str, str]]:
    entries = []
    for path, name in package["files"].items():
        target = fresh / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((source / path).read_bytes())
        entries.append(entry_for(package, name, target))
    return entries


def copy_installed(package: dict[str, Any], fresh: Path) -> list[dict[str, str]]:
    spec = importlib.util.find_spec(package["module"])
    if spec is None or not spec.submodule_search_locations:
        raise VendorError(f"{package['name']} is not installed for {sys.executable}")
    version = importlib.metadata.version(package["name"])
    return copy({**package, "version": version}, Path(spec.submodule_search_locations[0]), fresh)


def sprite(plan: dict[str, Any], unpacked: dict[str, Path], fresh: Path) -> dict[str, str]:
    """Combine icons into one file of `<symbol>`s. The style sheet sets color and stroke."""
    spec = plan["sprite"]
    package = next(p for p in plan["package"] if p["name"] == spec["package"])
    folder = unpacked[spec["package"]] / spec["from"]
    symbols = [symbol(name, (folder / f"{name}.svg").read_text()) for name in spec["icons"]]
    target = fresh / spec["to"]
    head = f"<!-- {package['name']} {package['version']}, {package['licence']}; see LICENSE -->"
    svg = '<svg xmlns="http://www.w3.org/2000/svg">'
    target.write_text("\n".join([head, svg, *symbols, "</svg>", ""]))
    return entry_for(package, spec["to"], target)


def symbol(name: str, svg: str) -> str:
    body = re.search(r"<svg[^>]*>(.*)</svg>", svg, re.DOTALL)
    if body is None:
        raise VendorError(f"icon {name} is not an SVG of the expected form")
    shapes = re.sub(r"\s+", " ", body.group(1)).replace("> <", "><").replace(" />", "/>").strip()
    return f'<symbol id="{name}" viewBox="0 0 24 24">{shapes}</symbol>'


def npm_ci(source: Path, work: Path) -> Path:
    """Return a copy of `source` with the packages of its lock file. npm verifies their integrity,
    and no install scripts run.
    """
    folder = work / source.name
    shutil.copytree(source, folder)
    npm = shutil.which("npm")
    if npm is None:
        raise VendorError("npm is not installed; it fetches the packages")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    if subprocess.run(command, cwd=folder, check=False).returncode:  # noqa: S603
        raise VendorError(f"npm could not install the packages of {source.name}/package-lock.json")
    return folder


def bundle(spec: dict[str, Any], folder: Path, fresh: Path) -> list[dict[str, Any]]:
    """Bundle an entry file, combine the licenses of its packages, and copy additional files.

    The output is reproducible: the same packages produce the same bytes.
    """
    target = fresh / spec["to"]
    target.parent.mkdir(parents=True, exist_ok=True)
    esbuild = folder / "node_modules" / ".bin" / "esbuild"
    command = [str(esbuild), spec["entry"], "--bundle", "--format=esm", "--minify"]
    command += ["--target=es2022", "--legal-comments=none", "--log-level=warning"]
    meta = fresh / "meta.json"
    command += [f"--metafile={meta}", f"--outfile={target}"]
    if subprocess.run(command, cwd=folder, check=False).returncode:  # noqa: S603
        raise VendorError(f"esbuild could not bundle {spec['entry']}")
    inputs = json.loads(meta.read_text())["inputs"]
    meta.unlink()
    found = (re.match(r"node_modules/((?:@[^/]+/)?[^/]+)/", path) for path in inputs)
    names = sorted({match[1] for match in found if match})
    described = [
        json.loads((folder / "node_modules" / name / "package.json").read_text()) for name in names
    ]
    package = {
        "name": spec["name"],
        "version": ", ".join(f"{one['name']} {one['version']}" for one in described),
        "licence": " AND ".join(sorted({one["license"] for one in described})),
    }
    without = spec.get("without_licence", {})
    files = (
        (name, folder / "node_modules" / without.get(name, name) / "LICENSE") for name in names
    )
    licences = [f"{name}\n\n{path.read_text().strip()}\n" for name, path in files]
    (target.parent / "LICENSE").write_text(f"\n{'-' * 72}\n\n".join(licences))
    licence = str(Path(spec["to"]).parent / "LICENSE")
    copied = {**package, "files": spec.get("files", {})}
    return [
        entry_for(package, spec["to"], target),
        entry_for(package, licence, fresh / licence),
        *copy(copied, folder / "node_modules", fresh),
    ]


def entry_for(package: dict[str, Any], name: str, path: Path) -> dict[str, str]:
    return {
        "file": name,
        "package": package["name"],
        "version": package["version"],
        "licence": package["licence"],
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def problems_in(folder: Path) -> list[str]:
    """Return the differences between manifest and files: changed, missing and unlisted files."""
    try:
        entries = json.loads((folder / MANIFEST).read_text())["files"]
    except FileNotFoundError:
        return [f"{folder / MANIFEST} is missing; run `make vendor`"]
    listed = {entry["file"]: entry["sha256"] for entry in entries}
    found = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }
    problems = [f"{name} is missing" for name in sorted(listed.keys() - found.keys())]
    problems += [f"{name} is not in the manifest" for name in sorted(found.keys() - listed.keys())]
    both = sorted(listed.keys() & found.keys())
    return problems + [f"{name} was changed" for name in both if listed[name] != found[name]]


if __name__ == "__main__":
    sys.exit(main())

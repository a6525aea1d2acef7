"""Storage of static files."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from pytest_django import Settings

from console.web.staticfiles import StaticFilesStorage


def _stored(folder: Path, settings: Settings, **files: str) -> StaticFilesStorage:
    """Collect these stylesheets of `css/` like `manage.py collectstatic`."""
    settings.STATIC_ROOT = folder / "stored"
    storage = StaticFilesStorage(location=settings.STATIC_ROOT, base_url="/static/")
    source = FileSystemStorage(folder / "source")
    for name, text in files.items():
        for there in (source, storage):
            there.save(f"css/{name}.css", ContentFile(text.encode()))
    paths = {f"css/{name}.css": (source, f"css/{name}.css") for name in files}
    for *_names, processed in storage.post_process(paths):
        if isinstance(processed, Exception):
            raise processed
    return storage


def test_imported_stylesheets_are_inlined(tmp_path: Path, settings: Settings) -> None:
    storage = _stored(
        tmp_path,
        settings,
        app='@layer a, b;\n@import url("one.css") layer(b);\n@import url("two.css") layer(a);\n',
        one='@import url("three.css") layer(c);\np { color: red }\n',
        two="p { color: blue }\n",
        three="p { color: green }\n",
    )
    with storage.open(storage.stored_name("css/app.css")) as file:
        assert file.read().decode() == (
            "@layer a, b;\n"
            "@layer b {\n@layer c {\np { color: green }\n}\np { color: red }\n}\n"
            "@layer a {\np { color: blue }\n}\n"
        )


def test_missing_import_is_reported(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(ValueError, match="one.css"):
        _stored(tmp_path, settings, app='@import url("one.css") layer(b);\n')

"""What must hold of the files themselves, whatever they do."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

from tests.conftest import ROOT

# Put together here, so that this file does not hold what it looks for.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        *(("pypi", "org"), ("pythonhosted", "org")),
        *(("registry", "npmjs"), ("npmjs", "org"), ("yarnpkg", "com")),
        *(("deb", "debian"), ("files", "pythonhosted")),
    )
]
LOCKS = ("requirements.txt", "requirements-local.txt", "requirements-dev.txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def repository_files() -> list[Path]:
    """Files that are committed, or would be."""
    found = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        pytest.skip("this is no Git checkout")
    paths = [ROOT / name for name in found.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_the_version_has_one_source() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.M)
    assert newest
    assert newest[1] == PROJECT["project"]["version"] == settings.VERSION


def test_no_file_names_a_package_registry() -> None:
    """Where packages come from is the installing machine's affair."""
    hosts = re.compile("|".join(map(re.escape, REGISTRIES)).encode(), re.I)
    named = [path for path in repository_files() if hosts.search(path.read_bytes())]
    assert named == []


def requirements(lock: str) -> dict[str, str]:
    """Versions by name; every line of the lock must be a requirement or one of its hashes."""
    found: dict[str, str] = {}
    hashes: dict[str, int] = {}
    name = ""
    for line in (ROOT / lock).read_text("utf-8").splitlines():
        if requirement := re.fullmatch(r"([a-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)( ; .+?)? \\", line):
            name = requirement[1]
            found[name], hashes[name] = requirement[2], 0
        else:
            assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line), f"{lock}: {line}"
            hashes[name] += 1
    assert [name for name, number in hashes.items() if not number] == []
    return found


def test_locks_have_hashes_and_no_addresses() -> None:
    run, local, dev = (requirements(lock) for lock in LOCKS)
    assert run.items() <= local.items() <= dev.items()
    optional = PROJECT["project"]["optional-dependencies"]
    for wanted, lock in (
        (PROJECT["project"]["dependencies"], run),
        (optional["local"], local),
        (optional["dev"], dev),
    ):
        names = {re.split(r"[\[<>=~! ;]", text)[0].lower() for text in wanted}
        assert names - {PROJECT["project"]["name"]} <= lock.keys()


def test_vendored_files_are_the_listed_ones() -> None:
    folder = ROOT / "static" / "vendor"
    if not folder.is_dir():
        pytest.skip("nothing is vendored")
    table = (folder / "README.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| `?([^|`]+?)`? \|.*?\b([0-9a-f]{64})\b", table, re.M))
    found = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path != folder / "README.md"
    }
    assert listed == found


# What the Content-Security-Policy blocks, or what htmx would have to evaluate.
INLINE = {
    "a script in the page": r"<script(?![^>]*\bsrc=)[^>]*>",
    "a style in the page": r"<style\b",
    "a style attribute": r"<[^>]*\sstyle\s*=",
    "an event attribute": r"<[^>]*\son[a-z]+\s*=",
    "hx-on": r"\bhx-on\b",
    "a script as an address": r"javascript:",
    "evaluated values": r"hx-(?:vals|headers)\s*=\s*[\"'](?:js|javascript):",
    "an evaluated trigger": r"hx-trigger\s*=\s*\"[^\"]*\[",
}


def test_templates_hold_nothing_inline() -> None:
    templates = sorted((ROOT / "templates").rglob("*.html"))
    assert templates
    found = []
    for path in templates:
        text = re.sub(r"\{#.*?#\}|\{%\s*comment.*?endcomment\s*%\}", "", path.read_text("utf-8"))
        # What stands between tags of Django does not end a tag of HTML.
        text = re.sub(r"\{[{%].*?[%}]\}", "", text, flags=re.S)
        found += [
            f"{path.name}: {what}" for what, pattern in INLINE.items() if re.search(pattern, text)
        ]
    assert found == []


@pytest.mark.parametrize("what", INLINE)
def test_the_search_for_inline_code_finds_it(what: str) -> None:
    bad = {
        "a script in the page": "<script defer>go()</script>",
        "a style in the page": "<style>p {}</style>",
        "a style attribute": '<p class="a"\n style="color: red">',
        "an event attribute": '<button onclick="go()">',
        "hx-on": '<button hx-on:click="go()">',
        "a script as an address": '<a href="javascript:go()">',
        "evaluated values": "<p hx-vals='js:{a: 1}'>",
        "an evaluated trigger": '<p hx-trigger="keyup[ctrlKey]">',
    }
    assert re.search(INLINE[what], bad[what])
    assert not re.search(INLINE[what], '<script src="a.js" defer></script><p class="on">style=</p>')


def test_every_folder_of_python_files_is_a_package() -> None:
    folders = {path.parent for path in repository_files() if path.suffix == ".py"}
    for folder in list(folders):
        folders |= {parent for parent in folder.parents if ROOT in parent.parents}
    missing = [folder for folder in folders - {ROOT} if not (folder / "__init__.py").is_file()]
    assert missing == []


def test_the_layers_hold() -> None:
    script = "from importlinter.cli import lint_imports_command as lint; lint()"
    done = subprocess.run(
        [sys.executable, "-c", script, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [5-9] kept, 0 broken", done.stdout)


def test_commands_that_the_readme_names_are_there() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    named = set(re.findall(r"manage\.py ([a-z_]+)", readme))
    assert named
    assert named <= get_commands().keys()
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^\.PHONY: (.+)$", makefile, re.M))
    assert set(re.findall(r"`make ([a-z]+)", readme)) <= {
        name for target in targets for name in target.split()
    }

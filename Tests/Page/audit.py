"""What every view is judged by: names, contrast, structure, layout shifts, width, and what axe-core finds."""

import pathlib
import subprocess
import sys
import tempfile

from scripts import CONTRAST, CONTROLS, STRUCTURE

# A package of the Python package index that brings axe-core 4.12.1. It is loaded into a folder that is removed.
PACKAGE = "axe-playwright-python==0.1.8 --hash=sha256:fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8"
SHIFT = 0.01
ROLES = {"button", "link", "slider", "textbox", "searchbox", "checkbox", "combobox", "listbox", "image"}

checks, failures = [], []


def check(what, holds, figure=""):
    checks.append(what)
    print(f"{'ok  ' if holds else 'FAIL'} {what}{f': {figure}' if figure != '' else ''}", flush=True)
    if not holds:
        failures.append(what)


def axe_core(file=None):
    """The text of axe-core, from a file, or from the package index."""
    if file:
        return pathlib.Path(file).read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "requirements").write_text(PACKAGE + "\n")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--root-user-action", "ignore", "--no-deps", "--require-hashes", "--target", folder / "axe",
                        "--requirement", folder / "requirements"], check=True)
        return (folder / "axe/axe_playwright_python/axe.min.js").read_text()


def no_shift(page, what):
    shifts = page.evaluate("window.shifts ?? null")
    # The boxes of cues are parts of the video that have no node of the document.
    moved = [s for s in shifts or [] if any(s[1:])] if "subtitles" in what else shifts or []
    total = sum(s[0] for s in moved)
    check(f"{what}: no layout shift", shifts is not None and total <= SHIFT, moved[:4] or "")
    return total


def judge(page, what, axe=None, is_forced=False):
    """Judges what is shown. Forced colours are the browser's, so that their contrast of text is not judged."""
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    unnamed = [node for node in tree if node.get("role", {}).get("value") in ROLES and not node.get("ignored")
               and not node.get("name", {}).get("value")]
    check(f"{what}: every control has a name", not unnamed, [n["role"]["value"] for n in unnamed] or "")
    poor = [] if is_forced else page.evaluate(CONTRAST)
    check(f"{what}: contrast of 4.5", not poor, poor or "")
    pale = page.evaluate(CONTROLS)
    check(f"{what}: controls stand out by 3", not pale, pale or "")
    faults = page.evaluate(STRUCTURE)
    check(f"{what}: the document is sound", not faults, faults or "")
    shift = no_shift(page, what)
    wide = page.evaluate("document.documentElement.scrollWidth")
    check(f"{what}: nothing is wider than the window", wide <= page.evaluate("innerWidth"), wide)
    if axe and not is_forced:
        page.evaluate(axe + "; 0")
        found = page.evaluate("axe.run(document).then(r => r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 100)]))")
        check(f"{what}: axe-core finds nothing", not found, found or "")
    return shift

"""The package works as it is installed: from its wheel, and from a checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DATA = {
    "autogen_context/model_limits.json",
    "autogen_context/tokens/ancestors.json",
    "autogen_context/tokens/families.json",
    "autogen_context/tokens/prices.json",
    "autogen_context/tokens/known_tokens.json",
    "autogen_context/py.typed",
}
PROGRAM = """
import autogen_context, pathlib
from autogen_context import IncrementalContextManager, ModelLimits
from autogen_context.tokens.measure import EstimateCounter
manager = IncrementalContextManager(model="gpt-4o", counter=EstimateCounter())
assert manager.prepare_nowait([{"role": "user", "content": "hello"}]).certificate.fits
print(pathlib.Path(autogen_context.__file__).parent.parent.resolve())
print(ModelLimits().lookup("gpt-4o").source)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout without asking an index for anything."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True, timeout=300)  # noqa: S603
    return next(folder.glob("*.whl"))


def run_from(folder: Path, site: str) -> list[str]:
    """What the program prints when it runs in a folder with one more place to import from."""
    environ = {**os.environ, "PYTHONPATH": site}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error", "-c", PROGRAM],
        cwd=folder,
        env=environ,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout.split("\n")[:2]


def test_the_wheel_has_all_data(wheel: Path) -> None:
    """Tables and the type marker are in it, and no tests."""
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= DATA
    assert not any(name.startswith(("tests/", "benchmarks/", "examples/")) for name in names)


def test_the_wheel_works_anywhere(wheel: Path, tmp_path: Path) -> None:
    """Unpacked in an empty folder it finds its own tables."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    assert run_from(tmp_path, str(tmp_path)) == [str(tmp_path.resolve()), "known"]


def test_the_checkout_works_anywhere(tmp_path: Path) -> None:
    """An editable install finds the table beside the package."""
    assert run_from(tmp_path, str(ROOT)) == [str(ROOT.resolve()), "known"]

"""What `make build` leaves: one version, the right things in each archive, no dates in them."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from questdb_sf.spark import configure, jar_path

REPO = Path(__file__).resolve().parents[1]
PROPERTIES = (REPO / "gradle.properties").read_text(encoding="utf-8")
VERSION = dict(re.findall(r"^(\w+)=(.*)$", PROPERTIES, re.MULTILINE))["version"]
BUNDLE = REPO / f"jvm/bundle/build/libs/questdb-sf-bundle-{VERSION}.jar"
STANDALONE = REPO / f"jvm/standalone/build/libs/questdb-sf-standalone-{VERSION}.jar"
TESTSERVER = REPO / f"jvm/testserver/build/libs/questdb-sf-testserver-{VERSION}-all.jar"
WHEEL = REPO / f"build/dist/questdb_sf-{VERSION}-py3-none-any.whl"
M2 = REPO / "build/m2/org/questdbsf"


def names(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()


def manifest(jar: Path) -> str:
    with zipfile.ZipFile(jar) as opened:
        return opened.read("META-INF/MANIFEST.MF").decode()


def has(jar: Path, prefix: str) -> bool:
    return any(name.startswith(prefix) for name in names(jar))


def test_one_version_for_jars_wheel_and_installed_package() -> None:
    for jar in (BUNDLE, STANDALONE, TESTSERVER):
        assert f"Implementation-Version: {VERSION}\r\n" in manifest(jar)
    assert WHEEL.is_file()
    assert importlib.metadata.version("questdb-sf") == VERSION
    said = subprocess.run(
        [Path(sys.executable).parent / "questdb-sf", "--version"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert VERSION in said


def test_the_standalone_jar_ships_the_newest_netty() -> None:
    """Not the one of the oldest Spark, against which the engine is compiled."""
    shipped = dict(re.findall(r"^(\w+)=(.*)$", PROPERTIES, re.MULTILINE))["shippedNettyVersion"]
    with zipfile.ZipFile(STANDALONE) as opened:
        versions = opened.read("META-INF/io.netty.versions.properties").decode()
    told = set(re.findall(r"^netty-[\w-]+\.version=(.*)$", versions, re.MULTILINE))
    assert told == {shipped}


def test_configure_names_the_jar_of_this_version() -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.Builder()
    configure(builder, jar="packages")
    group, artifact, version = builder._options["spark.jars.packages"].split(":")
    published = REPO / "build/m2" / group.replace(".", "/") / artifact / version
    assert version == VERSION
    assert (published / f"{artifact}-{version}.jar").read_bytes() == BUNDLE.read_bytes()
    assert jar_path().read_bytes() == BUNDLE.read_bytes()
    assert jar_path().name == BUNDLE.name


def test_wheel_and_sdist_are_the_same_bytes_from_any_place_at_any_time(tmp_path: Path) -> None:
    """Twice, in directories, with file times, umasks and time zones of their own, and nothing to download from."""
    made: list[dict[str, bytes]] = []
    for number, umask in enumerate((0o022, 0o077)):
        source = tmp_path / f"copy {number}"
        shutil.copytree(
            REPO / "python", source / "python", ignore=shutil.ignore_patterns("__pycache__")
        )
        shutil.copy(REPO / "gradle.properties", source)
        for path in source.rglob("*"):
            os.utime(path, (10**9 + number * 10**7,) * 2)
        subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "-o", source / "dist", "python"],
            check=True,
            capture_output=True,
            cwd=source,
            umask=umask,
            env={
                **os.environ,
                "TZ": ("UTC", "Asia/Tokyo")[number],
                "PIP_NO_INDEX": "1",
                "https_proxy": "http://127.0.0.1:9",
                "http_proxy": "http://127.0.0.1:9",
            },
        )
        made.append({path.name: path.read_bytes() for path in (source / "dist").iterdir()})
    assert set(made[0]) == {WHEEL.name, f"questdb_sf-{VERSION}.tar.gz"}
    assert made[0] == made[1]


def test_bundle_holds_what_spark_lacks_and_nothing_that_spark_brings() -> None:
    for room in ("spark", "sender", "slot", "qwp", "net", "error"):
        assert has(BUNDLE, f"org/questdbsf/{room}/"), room
    assert has(BUNDLE, "com/sun/jna/linux-x86-64/")
    for foreign in (
        "io/netty/",
        "org/slf4j/",
        "org/apache/",
        "org/HdrHistogram/",
        "scala/",
        "org/questdbsf/testserver/",
    ):
        assert not has(BUNDLE, foreign), foreign
    with zipfile.ZipFile(BUNDLE) as opened:
        service = opened.read("META-INF/services/org.apache.spark.sql.sources.DataSourceRegister")
    assert service == b"org.questdbsf.spark.QuestDbSfProvider\n"


def test_the_bundle_counts_with_its_own_histogram_and_maps_memory_by_jna(tmp_path: Path) -> None:
    """HdrHistogram is moved, so that a cluster may have another; every class of it, and in ours every name of it."""
    with zipfile.ZipFile(BUNDLE) as opened:
        classes = {name: opened.read(name) for name in opened.namelist() if name.endswith(".class")}
    assert "org/questdbsf/moved/HdrHistogram/ConcurrentHistogram.class" in classes
    assert [name for name, code in classes.items() if b"org/HdrHistogram" in code] == []
    source = tmp_path / "Probe.java"
    source.write_text(
        """
        public class Probe {
          public static void main(String[] args) {
            var histogram = new org.questdbsf.moved.HdrHistogram.ConcurrentHistogram(1000, 2);
            histogram.recordValue(7);
            System.out.println(histogram.getMaxValue() + " " + com.sun.jna.Native.POINTER_SIZE);
          }
        }
        """
    )
    ran = subprocess.run(
        ["java", "-cp", BUNDLE, source], check=False, capture_output=True, text=True
    )
    assert ran.stdout == "7 8\n", ran.stderr


LICENCES = {
    "net.java.dev.jna": (
        "Apache-2.0 OR LGPL-2.1-or-later",
        {"jna/AL2.0", "jna/LGPL2.1", "libffi/LICENSE"},
    ),
    "org.hdrhistogram": ("BSD-2-Clause OR CC0-1.0", {"HdrHistogram/LICENSE.txt"}),
    "io.netty": ("Apache-2.0", {"NOTICE.txt", "license/LICENSE.webbit.txt"}),
    "org.slf4j": ("MIT", {"slf4j-api/LICENSE.txt", "slf4j-simple/LICENSE.txt"}),
}


@pytest.mark.parametrize(
    ("archive", "groups"),
    [
        (BUNDLE, {"net.java.dev.jna", "org.hdrhistogram"}),
        (STANDALONE, set(LICENCES)),
    ],
    ids=["bundle", "standalone"],
)
def test_each_library_has_its_licence_its_notice_and_its_place_in_the_bill(
    archive: Path, groups: set[str]
) -> None:
    with zipfile.ZipFile(archive) as opened:
        members = set(opened.namelist())
        notice = opened.read("META-INF/NOTICE").decode()
        licence = opened.read("META-INF/LICENSE").decode()
        module = archive.name.removesuffix(f"-{VERSION}.jar")
        bill = json.loads(opened.read(f"META-INF/sbom/{module}.cdx.json"))
        for group in groups:
            for text in LICENCES[group][1]:
                assert len(opened.read(f"META-INF/licenses/{group}/{text}")) > 500, text
    assert "Apache License" in licence
    assert {c["group"] for c in bill["components"]} == groups
    for component in bill["components"]:
        assert f"{component['group']}:{component['name']} {component['version']}: " in notice
        assert component["licenses"] == [{"expression": LICENCES[component["group"]][0]}]
    assert {name.split("/")[2] for name in members if name.startswith("META-INF/licenses/")} == (
        groups | {""}
    )


@pytest.mark.parametrize("archive", [BUNDLE, STANDALONE, TESTSERVER], ids=lambda p: p.name)
def test_the_bill_of_materials_has_the_shape_of_cyclonedx_1_5(archive: Path) -> None:
    """As its JSON schema has it, for the fields that are used."""
    with zipfile.ZipFile(archive) as opened:
        (name,) = (n for n in opened.namelist() if n.endswith(".cdx.json"))
        bill = json.loads(opened.read(name))
    assert set(bill) == {
        *("bomFormat", "specVersion", "version", "metadata", "components", "dependencies"),
    }
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.5", 1)
    refs = [bill["metadata"]["component"]["bom-ref"]]
    for component in bill["components"]:
        assert component["type"] == "library"
        assert component["purl"] == component["bom-ref"]
        assert component["purl"] == (
            f"pkg:maven/{component['group']}/{component['name']}@{component['version']}"
        )
        (digest,) = component["hashes"]
        assert digest["alg"] == "SHA-256"
        assert re.fullmatch("[0-9a-f]{64}", digest["content"])
        refs.append(component["bom-ref"])
    assert len(set(refs)) == len(refs)
    assert [(d["ref"], d["dependsOn"]) for d in bill["dependencies"]] == [(refs[0], refs[1:])]


def test_standalone_holds_the_engine_with_all_it_needs_and_no_spark() -> None:
    assert "Main-Class: org.questdbsf.sender.DrainCommand\r\n" in manifest(STANDALONE)
    for part in ("org/questdbsf/sender/", "io/netty/", "org/slf4j/simple/", "com/sun/jna/"):
        assert has(STANDALONE, part), part
    assert not has(STANDALONE, "org/questdbsf/spark/")


def test_testserver_runs_as_a_program() -> None:
    assert "Main-Class: org.questdbsf.testserver.Main\r\n" in manifest(TESTSERVER)
    for part in ("io/questdb/", "io/netty/", "org/questdbsf/qwp/"):
        assert has(TESTSERVER, part), part


@pytest.mark.parametrize("archive", [BUNDLE, STANDALONE, TESTSERVER, WHEEL], ids=lambda p: p.name)
def test_archives_carry_neither_dates_nor_umask_nor_doubles(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        entries = opened.infolist()
    assert len({entry.date_time for entry in entries}) == 1
    assert len({entry.filename for entry in entries}) == len(entries)
    modes = {entry.external_attr >> 16 & 0o777 for entry in entries if not entry.is_dir()}
    assert modes == {0o644}


@pytest.mark.parametrize(
    ("artifact", "wanted"),
    [
        ("engine", {("jna", "compile"), ("HdrHistogram", "compile")}),
        ("spark", {("questdb-sf-engine", "compile")}),
        ("bundle", set()),
        ("standalone", set()),
    ],
)
def test_poms_name_what_their_users_need(artifact: str, wanted: set[tuple[str, str]]) -> None:
    pom = ElementTree.parse(
        M2 / f"questdb-sf-{artifact}/{VERSION}/questdb-sf-{artifact}-{VERSION}.pom"
    ).getroot()
    ns = {"m": "http://maven.apache.org/POM/4.0.0"}
    assert pom.findtext("m:version", None, ns) == VERSION
    assert pom.findtext("m:licenses/m:license/m:name", None, ns) == "Apache-2.0"
    found = {
        (d.findtext("m:artifactId", "", ns), d.findtext("m:scope", "", ns))
        for d in pom.findall("m:dependencies/m:dependency", ns)
    }
    assert found == wanted


@pytest.mark.parametrize("artifact", ["engine", "spark"])
def test_sources_are_published(artifact: str) -> None:
    sources = M2 / f"questdb-sf-{artifact}/{VERSION}/questdb-sf-{artifact}-{VERSION}-sources.jar"
    assert any(name.endswith(".java") for name in names(sources))


def test_wheel_holds_the_jars_of_this_build() -> None:
    with zipfile.ZipFile(WHEEL) as opened:
        assert "questdb_sf/py.typed" in opened.namelist()
        for jar in (BUNDLE, STANDALONE):
            assert opened.read(f"questdb_sf/jars/{jar.name}") == jar.read_bytes()


def test_sink_module_needs_no_third_party_library(tmp_path: Path) -> None:
    with zipfile.ZipFile(WHEEL) as opened:
        opened.extractall(tmp_path)
    # -S: no site-packages; only the standard library and the unpacked wheel are there.
    subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            "import questdb_sf.spark, sys; assert 'pyspark' not in sys.modules",
        ],
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
    )

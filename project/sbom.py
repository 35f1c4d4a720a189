"""Writes a bill of materials in CycloneDX for each jar of a release and for the wheel.

An artifact bundles no third-party code, so its bill lists what it needs directly: the dependencies
of its POM, or the requirements of the wheel. What those need in turn is left to their own bills.
"""

import hashlib
import json
import os
import re
import sys
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from email import message_from_bytes
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

from check_maven import CHECKSUMS, NAMESPACE, text_of
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

Component = dict[str, Any]

SPEC = SchemaVersion.V1_6
# By artifact without the versions in its name. SPDX knows no id for that of matplotlib.
LICENCES = {
    "antlr4-runtime": {"id": "BSD-3-Clause"},
    "delta-spark": {"id": "Apache-2.0"},
    "delta-upkeep": {"id": "Apache-2.0"},
    "matplotlib": {"name": "Matplotlib License"},
    "pyspark": {"id": "Apache-2.0"},
    "scala-library": {"id": "Apache-2.0"},
    "spark-sql": {"id": "Apache-2.0"},
    "tomli": {"id": "MIT"},
}
AUTHORS = "The authors of Delta Upkeep"


def component(purl: str, name: str, version: str, **more: Any) -> Component:
    """Describe an artifact, under its package URL."""
    licence = LICENCES[re.sub(r"(_[\d.]+)+$", "", name)]
    known = {"version": version} if version else {}
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        **known,
        "licenses": [{"license": licence}],
        "purl": purl,
        **more,
    }


def hashes(content: bytes) -> list[dict[str, str]]:
    """Hash the content of an artifact."""
    return [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]


def in_maven(element: ElementTree.Element, **more: Any) -> Component:
    """Describe what a POM, or a dependency in it, names."""
    group, name, version = (text_of(element, key) for key in ("groupId", "artifactId", "version"))
    return component(
        f"pkg:maven/{group}/{name}@{version}?type=jar", name, version, group=group, **more
    )


def bill(main: Component, url: str, needs: Sequence[Component], holds: Sequence[Component]) -> str:
    """Write the bill of an artifact that needs some components and contains others."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    now = datetime.fromtimestamp(seconds, timezone.utc)
    references = [{"type": "website", "url": url}, {"type": "vcs", "url": f"{url}.git"}]
    refs = [need["bom-ref"] for need in needs]
    written = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC.to_version()}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC.to_version(),
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(main))}",
        "version": 1,
        "metadata": {
            "timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "lifecycles": [{"phase": "build"}],
            "authors": [{"name": AUTHORS}],
            "component": {**main, "externalReferences": references},
            "supplier": {"name": AUTHORS, "url": [url]},
        },
        "components": [*holds, *needs],
        "dependencies": [
            {"ref": main["bom-ref"], "dependsOn": refs},
            *({"ref": held["bom-ref"]} for held in holds),
            *({"ref": ref} for ref in refs),
        ],
        "compositions": [
            {"aggregate": "complete", "assemblies": [main["bom-ref"]]},
            {"aggregate": "unknown", "dependencies": refs},
        ],
    }
    text = json.dumps(written, indent=2) + "\n"
    error = JsonStrictValidator(SPEC).validate_str(text)
    if error:
        raise SystemExit(f"the bill of {main['name']} does not follow CycloneDX: {error}")
    return text


def bill_of_jar(pom: Path) -> str:
    """Write the bill of the jar beside a POM."""
    root = ElementTree.parse(pom).getroot()
    needs = [
        in_maven(dependency, scope="required")
        for dependency in root.iterfind("dependencies/dependency", NAMESPACE)
        if text_of(dependency, "scope") != "test"
    ]
    main = in_maven(root, hashes=hashes(pom.with_suffix(".jar").read_bytes()))
    return bill(main, text_of(root, "url"), needs, [])


def required(requirement: str) -> Component:
    """Describe a requirement of the wheel: a range of versions, which pip chooses from."""
    name = re.split(r"[^\w.-]", requirement)[0]
    return component(
        f"pkg:pypi/{name}",
        name,
        "",
        scope="optional" if "extra ==" in requirement else "required",
        properties=[{"name": "requirement", "value": requirement}],
    )


def bill_of_wheel(wheel: Path, poms: Mapping[str, Path]) -> str:
    """Write the bill of the wheel, with the jars in it, whose POMs go by the names of the jars."""
    with ZipFile(wheel) as opened:
        (metadata,) = (n for n in opened.namelist() if n.endswith(".dist-info/METADATA"))
        said = message_from_bytes(opened.read(metadata))
        holds = [
            in_maven(
                ElementTree.parse(poms[Path(name).name]).getroot(), hashes=hashes(opened.read(name))
            )
            for name in sorted(opened.namelist())
            if name.endswith(".jar")
        ]
    name, version = said["Name"], said["Version"]
    main = component(f"pkg:pypi/{name}@{version}", name, version, hashes=hashes(wheel.read_bytes()))
    urls = dict(url.split(", ", 1) for url in said.get_all("Project-URL", []))
    needs = [required(requirement) for requirement in said.get_all("Requires-Dist", [])]
    return bill(main, urls["Homepage"], needs, holds)


def write(bills: Iterable[tuple[Path, str]]) -> None:
    """Write bills with their checksums."""
    for file, text in bills:
        file.write_text(text)
        for name in CHECKSUMS:
            checksum = hashlib.new(name, text.encode()).hexdigest()
            file.with_name(f"{file.name}.{name}").write_text(checksum)


def main(dist: Path) -> None:
    """Write the bills of jars into the Maven layout, and that of the wheel beside it."""
    poms = {pom.with_suffix(".jar").name: pom for pom in sorted((dist / "maven").rglob("*.pom"))}
    write((pom.with_name(f"{pom.stem}-cyclonedx.json"), bill_of_jar(pom)) for pom in poms.values())
    (wheel,) = dist.glob("*.whl")
    (dist / f"{wheel.name.split('-py3')[0]}.cdx.json").write_text(bill_of_wheel(wheel, poms))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Asks OSV for known vulnerabilities of the libraries in the jars. Exits 0: none; 1: some; 3: not checked."""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import urllib.request
import zipfile

from package import JARS_IN_WHEEL, jar

FOUND, NOT_CHECKED = 1, 3
TIMEOUT_SECONDS = 30


def shipped() -> list[str]:
    """The package URLs in the bills of materials of what is shipped, each once."""
    purls: set[str] = set()
    for module in JARS_IN_WHEEL:
        with zipfile.ZipFile(jar(module)) as opened:
            bill = json.loads(opened.read(f"META-INF/sbom/questdb-sf-{module}.cdx.json"))
        purls.update(component["purl"] for component in bill["components"])
    return sorted(purls)


def known(osv: str, purls: list[str]) -> dict[str, list[str]]:
    """Identifiers of the vulnerabilities that OSV knows, by package URL; an answer it cannot read is an OSError."""
    queries = [{"package": {"purl": purl}} for purl in purls]
    request = urllib.request.Request(
        f"{osv}/v1/querybatch",
        data=json.dumps({"queries": queries}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            results = json.load(answer)["results"]
        found = [[vuln["id"] for vuln in result.get("vulns", [])] for result in results]
    except (http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError) as e:
        raise OSError(f"unexpected answer, {type(e).__name__}: {e}") from e
    if len(found) != len(purls):
        raise OSError(f"{len(purls)} libraries were asked for, the answer has {len(found)}")
    return dict(zip(purls, found, strict=True))


def main() -> int:
    """Asks, and says what is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--osv", default="https://api.osv.dev", help="another address of OSV")
    osv: str = parser.parse_args().osv.rstrip("/")
    purls = shipped()
    try:
        vulnerabilities = known(osv, purls)
    except OSError as e:
        print(f"not checked: {osv} gives no answer that can be used: {e}")
        return NOT_CHECKED
    bad = {purl: ids for purl, ids in vulnerabilities.items() if ids}
    for purl, ids in bad.items():
        print(f"{purl}: {', '.join(ids)}")
    print(f"{len(purls)} libraries checked, {len(bad)} with known vulnerabilities")
    return FOUND if bad else 0


if __name__ == "__main__":
    sys.exit(main())

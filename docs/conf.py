"""Sphinx: the pages of this directory, built by `make docs` without the network."""

import re
from pathlib import Path

_PROPERTIES = (Path(__file__).parents[1] / "gradle.properties").read_text(encoding="utf-8")

project = "questdb-sf"
author = "The questdb-sf authors"
copyright = author
release = re.findall(r"^version=(\S+)$", _PROPERTIES, re.MULTILINE)[0]
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns: list[str] = []

html_theme = "furo"
html_title = f"questdb-sf {release}"
html_show_sphinx = False
html_show_copyright = False

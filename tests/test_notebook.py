"""A notebook, in a kernel of its own: what counters and the live table show there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.server import ServerProcess

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

START = """
from pyspark.sql import SparkSession
from questdb_sf.spark import configure, counters, watch

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = configure(builder).getOrCreate()
query = (
    spark.readStream.format("rate").option("rowsPerSecond", 50).load()
    .writeStream.format("questdb-sf")
    .option("addr", "ADDR").option("table", "notebook").option("timestamp", "timestamp")
    .option("create_table", "on").option("checkpointLocation", "WORK/checkpoint")
    .start()
)
while counters(query).rows_written == 0:
    query.awaitTermination(0.1)
"""
WATCH = """
last = watch(query, every=0.2, seconds=2)
print(last.rows_written)
"""
END = """
query.stop()
spark.stop()
"""


def test_the_live_table_in_a_notebook(server: ServerProcess, tmp_path: Path) -> None:
    start = START.replace("ADDR", server.addr).replace("WORK", str(tmp_path))
    cells = [nbformat.v4.new_code_cell(text) for text in (start, "counters(query)", WATCH, END)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=240, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()

    (shown,) = outputs(notebook.cells[1], "execute_result")
    assert shown["text/html"].startswith("<table><caption>questdb-sf ")
    assert "rows_written" in shown["text/plain"], "the same for a terminal"
    # One table, which was drawn over again and again: the last one is what watch() returned.
    (live,) = outputs(notebook.cells[2], "display_data")
    last = int(notebook.cells[2].outputs[-1]["text"])
    assert f"<td>rows_written</td><td>{last:,}</td><td>" in live["text/html"]
    assert "commit_on=ack, health: ok" in live["text/html"]
    assert last > 0


def outputs(cell: Any, kind: str) -> list[Any]:
    """What a cell showed, by MIME type."""
    return [output["data"] for output in cell.outputs if output["output_type"] == kind]

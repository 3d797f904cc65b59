"""The sink while things happen to its server and to Spark, judged by SQL.

``run`` and ``test_container`` are scenarios against a container, which need a Docker engine; ``kills`` and ``kill_run``
kill with SIGKILL, on the test server as a process; ``selftest`` plants the ``faults`` that both have to find. What they
write and how it is judged is in ``rows``. Nothing here is part of ``make test``.
"""

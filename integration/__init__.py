"""The sink while things happen to its server and to Spark, judged by SQL.

``run`` and ``test_container`` are scenarios against a container, which need a Docker engine; ``kills`` and ``kill_run``
kill with SIGKILL, on a server as a process; ``drops`` drops, renames, truncates and alters tables under rows that come
at full rate (``drop_round``, ``drop_lanes``, ``drop_verdict``). ``selftest`` plants the ``faults`` that all of them
have to find. What streams write and how it is judged is in ``rows``. Nothing here is part of ``make test``.
"""

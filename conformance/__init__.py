"""One suite for everything that talks to a server: it runs against the test server and against a real QuestDB.

``kinds`` has every column type with its edge values, ``ways`` how each way in writes them. ``events`` is what happens
to tables and the verdict by SQL, ``writers`` what writes to them meanwhile at full rate.

``wire`` writes QWP frames, ``connection`` sends them and reads the replies; neither knows anything of the engine, whose
encoder and connection are among what is judged here. ``matrix.tsv`` is what a real server did with every wire type in
every column type.
"""

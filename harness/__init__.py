"""What tests, the demo and the fault runs share to drive real programs: the test server as a process.

Nothing here is part of the product.
"""

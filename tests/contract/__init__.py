"""What kube-apiserver promises, tried on a real one and on the embedded cluster alike.

Each test runs on both, with the same code. The real one says what is right.
"""

"""What every test shares: the real control plane and the way to say what was left out."""

pytest_plugins = ["tests.controlplane.plugin"]

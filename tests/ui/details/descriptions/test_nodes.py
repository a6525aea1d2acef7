"""The page of a node."""

from console.kube.gvr import NODES
from tests.ui.details.descriptions.described import described, objects

NODE = objects("""
metadata: {name: node-1}
spec: {podCIDR: 10.1.0.0/24, podCIDRs: [10.1.0.0/24, 'fd00:1::/64'], providerID: 'cloud://1'}
status:
  addresses: [{type: Hostname, address: node-1}, {type: InternalIP, address: 192.0.2.1}]
  capacity: {cpu: '8', example.org/gpu: '2'}
  allocatable: {cpu: 7900m, example.org/gpu: '1'}
  nodeInfo: {machineID: m1, systemUUID: s1, bootID: b1, operatingSystem: linux}
  volumesAttached: [{name: kubernetes.io/csi/d^1, devicePath: ''}]
""")["node-1"]


def test_page_of_a_node_shows_addresses_resources_and_system() -> None:
    text = described(NODES, NODE)
    assert "Hostname node-1 InternalIP 192.0.2.1" in text
    assert "cpu 8 7900m" in text and "example.org/gpu 2 1" in text
    assert "Pod address ranges 10.1.0.0/24 fd00:1::/64 Provider ID cloud://1" in text
    assert "Machine ID m1 System UUID s1 Boot ID b1" in text and "kubernetes.io/csi/d^1" in text

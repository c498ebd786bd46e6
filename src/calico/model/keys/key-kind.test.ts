import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { keyKind, pathToKey, placesOfKeyKind } from "../index.ts";

const paths: { path: string; kind: string }[] = [
  { path: "/calico/v1/host/node-1/workload/k8s/shop%2fweb-0/endpoint/eth0", kind: "WorkloadEndpoint" },
  { path: "/calico/v1/host/node-1/endpoint/eth0", kind: "HostEndpoint" },
  { path: "/calico/v1/host/node-1/config/IpInIpTunnelAddr", kind: "HostConfig" },
  { path: "/calico/v1/host/node-1/metadata", kind: "HostMetadata" },
  { path: "/calico/v1/host/node-1/wireguard", kind: "Wireguard" },
  { path: "/calico/v1/policy/tier/default/metadata", kind: "Tier" },
  { path: "/calico/v1/policy/profile/kns.shop/rules", kind: "ProfileRules" },
  { path: "/calico/v1/policy/profile/kns.shop/labels", kind: "ProfileLabels" },
  { path: "/calico/v1/policy/GlobalNetworkPolicy//allow-dns", kind: "GlobalNetworkPolicy" },
  { path: "/calico/v1/policy/NetworkPolicy/shop/web", kind: "NetworkPolicy" },
  { path: "/calico/v1/config/LogSeverityScreen", kind: "GlobalConfig" },
  { path: "/calico/v1/netset/shop%2fpartners", kind: "NetworkSet" },
  { path: "/calico/v1/ipam/v4/pool/10.0.0.0-16", kind: "IpPool" },
  { path: "/calico/v1/Ready", kind: "Ready" },
  { path: "/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26", kind: "Block" },
  { path: "/calico/ipam/v2/host/node-1/ipv4/block/10.0.0.0-26", kind: "BlockAffinity" },
  { path: "/calico/resources/v3/projectcalico.org/nodes/node-1", kind: "Node" },
  { path: "/calico/resources/v3/projectcalico.org/kubernetesservice/shop/web", kind: "KubernetesService" },
  { path: "/calico/resources/v3/projectcalico.org/profiles/kns.shop", kind: "Profile" },
];

for (const { path, kind } of paths) {
  test(`a look at the path tells a ${kind}, as the parser does: ${path}`, () => {
    equal(keyKind(path), kind);
    const key = pathToKey(path);
    ok(placesOfKeyKind(kind).some((place) => path.startsWith(place)));
    equal(key?.is === "Resource" || key?.is === "Policy" ? key.kind : key?.is, kind);
  });
}

test("a path of no kind is other", () => equal(keyKind("/elsewhere/v1"), "other"));

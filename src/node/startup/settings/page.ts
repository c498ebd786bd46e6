// docs/reference/node-startup.md: what start-up does and reads, step by step, with the tables of its environment. `npm run docs` writes it.
import { nodeSettingsTables } from "./read.ts";

export function nodeStartupPage(): string {
  return `${before}\n${nodeSettingsTables().replaceAll(/^## /gm, "### ")}\n\n${after}`;
}

const before = `# Start-up, shutdown and health of a node

\`cattail node run\` does all of this by itself. The commands are for images and manifests that run the steps one by one, as calico/node does, and for looking.

| command | what it does |
|---|---|
| \`cattail node startup\` | everything before the daemons, once: name, address, Node, pools, configuration, name file. \`--complete-startup\` then marks the node at once |
| \`cattail node complete-startup\` | waits for the daemons (5 minutes at most), then marks the node as having a network |
| \`cattail node allocate-tunnel-addrs\` | keeps the node's tunnel addresses; \`--run-once\` looks once |
| \`cattail node monitor-addresses\` | keeps the Node's address up to date |
| \`cattail node health\` | what probes ask |
| \`cattail node shutdown\` | writes down the time and marks the node as being without a network; \`--clean\` also takes away routes, tunnels and packet rules of the agent, and the name file |
| \`cattail node hostpath-init\`, \`init\` | gives /var/lib/calico, /var/run/calico and /var/log/calico to a user, for an agent that does not run as root ([the CNI plugin then asks no agent](cni.md#with-an-agent)); nothing |

Exit codes: 0, or 1 if it failed. Then the last lines of the log say what was wrong and what to do.

## What start-up writes

| step | writes | if it fails |
|---|---|---|
| reads the Node, pools, configuration; \`WAIT_FOR_DATASTORE=true\` waits for the datastore, otherwise each question is asked for 30 s | nothing | exit 1 |
| asks for the rights to all that it will write | nothing | all missing rules are printed, ready to paste; exit 1. Without the right to create BGPConfigurations, the IPAM configuration or tiers it goes on: what it would write is what holds without them |
| affinities of old releases | their labels | exit 1 |
| address, interfaces, AS number | the Node, if anything has changed: annotations \`projectcalico.org/IPv4Address\`, \`IPv6Address\`, \`Interfaces\`, \`ASNumber\`. With etcd or a folder a missing Node is created, unless the backend is \`none\`; in Kubernetes it is an error | exit 1; an address that is detected anew and conflicts is taken off the Node |
| folders | /var/lib/calico, /var/run/calico (backend bird), /var/log/calico (with a log file), mode 0755 | exit 1 |
| pools | \`default-ipv4-ippool\` and \`default-ipv6-ippool\`, each only if its family has no pool at all | exit 1 |
| configuration | ClusterInformation, tiers, FelixConfiguration \`default\` (also \`node.NAME\` with etcd), BGPConfiguration and IPAM configuration \`default\`: created, or completed without touching what is there | exit 1 |
| the name file | \`/var/lib/calico/nodename\`, by rename: the CNI plugin starts to work | exit 1 |

What was written before a step that failed stays.

With etcd or a folder, Kubernetes is asked as well where \`KUBECONFIG\` or the pod says where it is: for the InternalIP, for kubeadm's pod subnet, and to mark the node. A kubeconfig that cannot be used leaves this out, with a warning; only the mark then fails.

## The node's address

| \`IP\` or \`IP6\` | the Node has | result |
|---|---|---|
| \`autodetect\` | anything | detected. Nothing found: what the Node has stays, with a warning; if it has nothing, exit 1 |
| empty | nothing | IPv4: as \`autodetect\`. IPv6: none |
| empty, or \`none\` | an address | it stays |
| \`none\` | nothing | none. A node with neither family: exit 1, unless the backend is \`none\` |
| an address or CIDR | anything | that. Without a mask it gets the mask of the interface that has it, or all bits |

| method | finds |
|---|---|
| \`first-found\` | the first address of the interface that was made last, interfaces of other software left out (docker, cbr, dummy, podman, virbr, lxcbr, veth, lo, br-, cali, tunl, flannel, kube-ipvs, cni, vxlan.calico, vxlan-v6.calico, wireguard.cali, wg-v6.cali, nodelocaldns) |
| \`interface=A,B\` | the first address on an interface whose name matches one of these regular expressions, which are not anchored |
| \`skip-interface=A,B\` | as first-found, without these |
| \`cidr=A,B\` | the first address in one of these networks, on any interface |
| \`can-reach=HOST\` | the address from which the kernel would send to the host. Nothing is sent |
| \`kubernetes-internal-ip\` | the first InternalIP of the family that the Kubernetes Node has |

Link-local, loopback and multicast addresses never count; an interface that is down does. An address with a peer gets all bits as its mask. If another node has the same address, one line of the log names both nodes and the address, at every start. A start with a new address then fails; two nodes that
already have it go on. \`DISABLE_NODE_IP_CHECK=true\` switches the comparison off.

The monitor does the same every \`AUTODETECT_POLL_INTERVAL\`, and a moment after an interface or address has changed. An error never ends it.

## Tunnel addresses

A node gets an address for VXLAN, VXLAN over IPv6 and IPIP if an enabled pool of that mode selects it and allows the use \`Tunnel\`, and for WireGuard if the Node has a public key. Addresses have the handles \`vxlan-tunnel-addr-NODE\`, \`vxlan-v6-tunnel-addr-NODE\`,
\`ipip-tunnel-addr-NODE\`, \`wireguard-tunnel-addr-NODE\` and \`wireguard-v6-tunnel-addr-NODE\`. They stay as long as they are in such a pool, and are given back when no pool asks for them. With \`USE_POD_CIDR=true\` there are none.

## Health

\`cattail node health\` prints one line and ends with 1 if a check fails:

| flag | good when |
|---|---|
| \`--felix-live\`, \`--felix-ready\` | the agent's health server answers \`/liveness\`, \`/readiness\` with 200 to 399 |
| \`--bird-live\`, \`--bird6-live\` | BIRD answers \`show status\` |
| \`--bird-ready\`, \`--bird6-ready\` | within \`--threshold-time\` (30s) of the last start-up: every session of the mesh, of nodes and of global peers is up, and no graceful restart is in progress. Later: one session is up, or there is none at all |

- BIRD 1.6 and BIRD 2 are asked at \`BIRD_CTL\` (\`BIRD6_CTL\`), /var/run/calico/bird.ctl (bird6.ctl), /var/run/bird and /run/bird, the first that is there. For IPv6 a BIRD 2 without a socket of its own is asked at the socket of IPv4.
- \`--strict\`: at any time, no session may be down for longer than \`--grace\` (10s), no graceful restart may be in progress, and BIRD must write its routes to the kernel.
- \`-o json\` prints every check with its verdict and every peer with its state.
- \`cattail node health --port P --type readiness|liveness\` (also \`calico health\`) asks the health server of any component; \`--host\`, \`--timeout\`.

## Environment

Which datastore, and its variables, are on [the agent's page](node.md#settings).
`;

const after = `## Rights

Rules for a ClusterRole of an account that runs start-up, tunnel addresses and shutdown alone. Kubernetes has ConfigMaps of kubeadm in kube-system; without that right its pod subnet is not found.

\`\`\`yaml
- apiGroups: [""]
  resources: ["nodes"]
  verbs: ["get", "list"]
- apiGroups: [""]
  resources: ["nodes/status"]
  verbs: ["patch", "update"]
- apiGroups: [""]
  resources: ["configmaps"]
  verbs: ["get"]
- apiGroups: ["crd.projectcalico.org"]
  resources: ["clusterinformations", "felixconfigurations"]
  verbs: ["get", "create", "update"]
- apiGroups: ["crd.projectcalico.org"]
  resources: ["bgpconfigurations", "ipamconfigs"]
  verbs: ["get", "create"]
- apiGroups: ["crd.projectcalico.org"]
  resources: ["ippools", "tiers"]
  verbs: ["list", "create"]
- apiGroups: ["crd.projectcalico.org"]
  resources: ["ipreservations"]
  verbs: ["list"]
- apiGroups: ["crd.projectcalico.org"]
  resources: ["blockaffinities", "ipamblocks", "ipamhandles"]
  verbs: ["get", "list", "create", "update", "delete"]
\`\`\`
`;

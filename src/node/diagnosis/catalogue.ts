// Every problem that a diagnosis of nodes and paths can name. docs/reference/doctor.md is made from this table. Codes are public: scripts look
// for them, and `cattail lab break --list` prints them.

export type Level = "broken" | "warning" | "note";

export type CatalogueEntry = {
  readonly level: Level;
  readonly title: string;
  readonly why: string;
  readonly fix: string;
};

export const nodeCatalogue = {
  DATASTORE_LOCKED: {
    level: "broken",
    title: "the datastore says that it is not ready (ClusterInformation, datastoreReady: false)",
    why: "no new pod gets an address, and agents of nodes do not start; a migration that was not finished leaves it so",
    fix: "finish the migration, or: cattail ctl datastore migrate unlock",
  },
  DATASTORE_UNREADABLE: {
    level: "broken",
    title: "something in the datastore cannot be read",
    why: "nodes that may not read it either do not start, or work on half of the cluster",
    fix: "grant the right that the finding names, or install the CRD: cattail manifests crds | kubectl apply -f -",
  },
  NODE_RIGHTS_MISSING: {
    level: "broken",
    title: "an account of the nodes lacks a right that it uses",
    why: "start-up ends with exit code 1, or pods are refused; roles of older releases are too narrow for current programs",
    fix: "add the rules that the finding prints to the ClusterRole",
  },
  NODE_UNKNOWN: {
    level: "broken",
    title: "the datastore has no node of this host's name",
    why: "the agent, the CNI plugin and the other nodes look for it by that name",
    fix: "set NODENAME to the name that kubectl get nodes shows, and restart the agent",
  },
  NODE_NAME_FILE: {
    level: "broken",
    title: "the file with the node's name is missing, or names another node",
    why: "the CNI plugin reads it, and refuses every pod, or gives it to the wrong node",
    fix: "start the agent (cattail node run): its start-up writes /var/lib/calico/nodename",
  },
  NODE_ADDRESS_MISSING: {
    level: "broken",
    title: "a node has no address in the datastore",
    why: "other nodes make no routes and no BGP session to it",
    fix: "start its agent with IP=autodetect, and look at its log for the address it finds",
  },
  NODE_ADDRESS_DUPLICATE: {
    level: "broken",
    title: "two nodes have the same address",
    why: "packets for the pods of one arrive at the other; BGP sessions collapse. Typical where every machine has the same NAT interface",
    fix: "choose the right interface: IP_AUTODETECTION_METHOD=kubernetes-internal-ip (or can-reach=GATEWAY), then restart the agent of the node whose address is wrong",
  },
  NODE_ADDRESS_STALE: {
    level: "broken",
    title: "the node's address in the datastore is on no interface of the host",
    why: "the other nodes send packets for its pods to an address where nobody answers",
    fix: "restart the agent with IP=autodetect; it writes the address that the host has now",
  },
  NODE_ADDRESS_OTHER: {
    level: "warning",
    title: "the node's address is not the one that Kubernetes has for it (InternalIP)",
    why: "often the wrong of two interfaces was chosen",
    fix: "IP_AUTODETECTION_METHOD=kubernetes-internal-ip, if the other interface is not meant",
  },
  SUBNETS_WITHOUT_ENCAPSULATION: {
    level: "broken",
    title: "nodes are in different networks, and a pool has no encapsulation",
    why: "the router between them knows no pod addresses, and drops the packets; BGP sessions and readiness stay fine",
    fix: 'cattail ctl patch ippool POOL -p \'{"spec":{"vxlanMode":"CrossSubnet"}}\', or teach the router the pods\' networks by BGP',
  },
  POOL_ASKED_IS_DISABLED: {
    level: "broken",
    title: "a pod asks for a pool that is disabled or does not exist",
    why: "the CNI plugin refuses it, and it stays in ContainerCreating",
    fix: 'cattail ctl patch ippool POOL -p \'{"spec":{"disabled":false}}\', or change the pod\'s annotation cni.projectcalico.org/ipv4pools',
  },
  POOL_NONE_ENABLED: {
    level: "broken",
    title: "there is no pool, or none that is enabled",
    why: "no new pod gets an address",
    fix: 'cattail ctl patch ippool POOL -p \'{"spec":{"disabled":false}}\'',
  },
  POOL_GONE: {
    level: "broken",
    title: "pods have addresses of a pool that was deleted",
    why: "nodes make routes, tunnels and exceptions from masquerading for addresses of pools only: these pods are cut off, in part or wholly",
    fix: "make the pool again with the same range, disabled, and replace the pods one by one: cattail ctl create -f POOL.yaml; then delete it",
  },
  POOL_IPIP_NOT_MADE: {
    level: "broken",
    title: "a pool asks for IPIP, and a node has no IPIP device",
    why: "the agent could not make it, usually because the kernel has no module ipip, or no agent has run there yet: packets for pods of that pool are lost between the nodes",
    fix: 'modprobe ipip on that node; where its kernel has no such module: cattail ctl patch ippool POOL -p \'{"spec":{"ipipMode":"Never","vxlanMode":"Always"}}\'',
  },
  POOL_OVERLAP: {
    level: "broken",
    title: "a pool contains the address of a node, or overlaps the range of services",
    why: "packets to that node or service are taken for pods' and lost, in part",
    fix: "make a pool with a range of its own, disable the old one, and replace the pods: cattail ctl create -f POOL.yaml",
  },
  BLOCK_WITHOUT_NODE: {
    level: "warning",
    title: "a block belongs to a node that is not there",
    why: "its addresses are lost to the cluster, no other node gets it, and no routes lead to pods that still use it",
    fix: "cattail ctl ipam check --show-problem-ips, then cattail ctl ipam release --from-report=REPORT; kube-controllers does it by itself",
  },
  FORWARDING_OFF: {
    level: "broken",
    title: "the kernel of a node does not forward packets",
    why: "nothing passes between its pods and anything else, and readiness stays green",
    fix: "sysctl -w net.ipv4.ip_forward=1; look for who turns it off again: grep -r ip_forward /etc/sysctl.d /usr/lib/sysctl.d",
  },
  REVERSE_PATH_FILTER: {
    level: "broken",
    title: "a strict reverse path filter drops packets whose way back leaves by another interface",
    why: "packets of pods die on arrival without a trace but a counter (nstat -z TcpExtIPReversePathFilter)",
    fix: "remove the route that leads back by the other interface, or sysctl -w net.ipv4.conf.all.rp_filter=2 and the same for the interface",
  },
  FOREIGN_FORWARD_DROP: {
    level: "broken",
    title: "a firewall of somebody else drops what the node forwards",
    why: "an accept in one table does not protect from a drop in another; Docker sets the policy of FORWARD to drop. Readiness stays green",
    fix: 'iptables -P FORWARD ACCEPT (Docker: "ip-forward-no-drop": true in daemon.json), or add an accept for the pods\' networks to that chain',
  },
  MTU_PATH: {
    level: "broken",
    title: "the network between two nodes takes only smaller packets than their interfaces send",
    why: "small packets pass and large ones vanish: pings are fine, and TCP hangs after the handshake",
    fix: "set the MTU of the nodes' interfaces (or mtu in the CNI configuration) to what passes, or mend the switch port",
  },
  MTU_PODS: {
    level: "broken",
    title: "pods have a larger MTU than the tunnel takes",
    why: "with VXLAN 50 bytes of each packet are the tunnel's: large packets of pods are refused",
    fix: "set mtu to 0 in /etc/cni/net.d/10-calico.conflist, so that the agent's value is used, and replace the pods",
  },
  BGP_SESSION_DOWN: {
    level: "broken",
    title: "a BGP session between two nodes is not established",
    why: "they have no routes to each other's pods; readiness is content with one session of many",
    fix: "allow TCP port 179 in both directions between the two nodes: security groups, iptables, network policies of hosts",
  },
  BGP_WAITS: {
    level: "broken",
    title: "BIRD holds all routes back, because it waits for a peer after its start",
    why: "no route from BGP is in the kernel for up to 240 s, not even to healthy peers, and readiness is green after 30 s",
    fix: "wait, or bring the peer up (the finding names it); a restart of BIRD alone begins the wait anew",
  },
  BGP_NO_PEERS: {
    level: "broken",
    title: "BGP carries the routes, and the nodes have nobody to tell them to",
    why: "with the mesh off (nodeToNodeMeshEnabled: false) only BGPPeers make sessions: without one no node hears of the others' pods, and readiness of BIRD is green",
    fix: 'cattail ctl patch bgpconfiguration default -p \'{"spec":{"nodeToNodeMeshEnabled":true}}\', or make BGPPeers for route reflectors first',
  },
  BIRD_SILENT: {
    level: "broken",
    title: "BIRD does not answer at its control socket",
    why: "no BGP routes are learned or announced",
    fix: "look at the agent's log: it starts BIRD, and says why it ended",
  },
  ROUTE_MISSING: {
    level: "broken",
    title: "a node has no route to the block of another node",
    why: "packets for pods there leave by the default route and are lost",
    fix: "restart the agent of this node; it makes the routes anew. With BGP look at the sessions: cattail ctl node status",
  },
  ROUTE_WRONG: {
    level: "broken",
    title: "a route to the block of a node leads to another place",
    why: "packets for pods there arrive at the wrong machine",
    fix: "ip route get ADDRESS shows the route that is taken; remove it if nobody needs it",
  },
  ROUTING_RULE: {
    level: "broken",
    title: "a rule of routing (policy routing) sends packets of pods another way",
    why: "the agent's routes are in the table main; a rule that asks for the source, the mark or the interface of a packet may send it to another table, which does not know the pods",
    fix: "ip rule, and ip route show table TABLE: let the rule leave out the pods' networks, or put before it: ip rule add to PODS-NETWORK lookup main priority N",
  },
  POD_ROUTE_MISSING: {
    level: "broken",
    title: "a pod of this node has no route to its interface",
    why: "nothing reaches it, not even from its own node",
    fix: "delete the pod, so that it is plugged in anew; then look at the agent's log",
  },
  NODE_UNREACHABLE: {
    level: "broken",
    title: "another node does not answer at its address",
    why: "what nodes cannot do, their pods cannot",
    fix: "ping it by hand; see whether it runs, and which firewall stands between",
  },
  NEIGHBOUR_WRONG: {
    level: "broken",
    title: "a node has the hardware address of another machine for a node",
    why: "packets are delivered to the wrong machine, or to nobody: an entry was set by hand, or another machine answers for the address",
    fix: "ip neigh flush dev INTERFACE; if it comes back, another machine has the node's address: arping -D -I INTERFACE ADDRESS",
  },
  TUNNEL_WRONG: {
    level: "broken",
    title: "a VXLAN device has a wrong entry for another node, or none",
    why: "the agent writes an entry for each node (its tunnel's address, hardware address and node); without it packets for the pods there are lost",
    fix: "restart the agent of this node: it writes the entries anew, and gives its device the hardware address that the others know",
  },
  CONNTRACK_FULL: {
    level: "broken",
    title: "the kernel follows as many connections as it may",
    why: "it drops packets of new connections, now and then, and only the kernel's log tells (nf_conntrack: table full, dropping packet)",
    fix: "sysctl -w net.netfilter.nf_conntrack_max=N, and look for who opens so many: conntrack -L",
  },
  UNDERLAY_DROPS_PODS: {
    level: "broken",
    title: "the network between the nodes drops packets that have addresses of pods",
    why: "clouds check source and destination of every packet, and switches filter what they do not know; node to node works, BGP works, readiness is green, and no pod reaches another node",
    fix: 'encapsulate: cattail ctl patch ippool POOL -p \'{"spec":{"vxlanMode":"Always"}}\'; or turn the check off in the cloud (AWS: source/destination check of the instances; with the agent of Calico also FelixConfiguration awsSrcDstCheck: Disable)',
  },
  VXLAN_BLOCKED: {
    level: "broken",
    title: "the network between the nodes drops VXLAN (UDP port 4789)",
    why: "routes and tunnels are right on both sides, and no packet gets through the tunnel",
    fix: "allow UDP port 4789 between all nodes: security groups, iptables, network policies of hosts",
  },
  IPIP_BLOCKED: {
    level: "broken",
    title: "the network between the nodes drops IPIP (IP protocol 4)",
    why: "routes and tunnels are right on both sides, and no packet gets through the tunnel; some clouds (Azure) pass TCP, UDP and ICMP only",
    fix: 'allow IP protocol 4 between all nodes, or tunnel by VXLAN: cattail ctl patch ippool POOL -p \'{"spec":{"ipipMode":"Never","vxlanMode":"Always"}}\'',
  },
  POLICY_DENIES: {
    level: "note",
    title: "a policy denies it",
    why: "it was asked for: packets that no rule allows are dropped",
    fix: "cattail explain SOURCE DESTINATION says which policy, and what would change it",
  },
  POD_SILENT: {
    level: "broken",
    title: "a pod does not answer, and nothing that was looked at says why",
    why: "routes, forwarding, filters and policies are as they should be, as far as could be seen from here",
    fix: "run cattail doctor node on the pod's node, too; see whether the pod itself answers: its processes, its own firewall",
  },
  POD_INTERFACE: {
    level: "broken",
    title: "a pod's own interface, route or hardware address is not as the plugin made it",
    why: "the pod can neither send nor be reached, not even by its own node: somebody or something has changed it since",
    fix: "delete the pod, so that it is plugged in anew",
  },
  CNI_CONFIGURATION_MISSING: {
    level: "broken",
    title: "there is no configuration of the CNI plugin",
    why: "the runtime knows no network, and the node stays NotReady",
    fix: "cattail cni install, or the install-cni container of the DaemonSet",
  },
  CNI_CONFIGURATION_OTHER: {
    level: "warning",
    title: "the configuration of another plugin comes before Calico's",
    why: "runtimes take the first file of the folder by its name: new pods are given to that plugin, and get addresses that Calico knows nothing of",
    fix: "remove or rename that file, if the runtime was not told to take another one than the first; then replace the pods that were made meanwhile",
  },
  CNI_PLUGIN_MISSING: {
    level: "broken",
    title: "a program that the CNI configuration names is not there",
    why: 'the runtime refuses every new pod: failed to find plugin "NAME" in path',
    fix: "cattail cni install puts Calico's two; others, such as portmap and bandwidth, come with the runtime (containernetworking-plugins)",
  },
  CNI_CREDENTIALS_EXPIRED: {
    level: "broken",
    title: "the certificate or token of the CNI plugin has expired, or cannot be read",
    why: "running pods are fine, and every new one is refused: connection is unauthorized",
    fix: "make a new kubeconfig for the plugin; cattail node run keeps its token fresh by itself (CALICO_MANAGE_CNI=true)",
  },
  CNI_CREDENTIALS_EXPIRE_SOON: {
    level: "warning",
    title: "the certificate of the CNI plugin expires within 30 days",
    why: "on that day every new pod is refused",
    fix: "make a new kubeconfig for the plugin before that",
  },
  CNI_SOCKET_UNSAFE: {
    level: "warning",
    title:
      "the CNI plugin does not ask the agent: somebody else could put a socket of his own in the place of the agent's",
    why: "every call takes longer, as without an agent. A calico-node that does not run as root leaves /var/run/calico to its user",
    fix: "chown 0:0 /var/run/calico && chmod go-w /var/run/calico, where nothing runs as that user any more; the agent sees it by itself",
  },
  NODE_TYPHA_UNREACHABLE: {
    level: "broken",
    title: "the agent's Typha cannot be reached from this host, or does not accept its certificate",
    why: "the agent works on what it knows, and hears of no change",
    fix: "cattail doctor --server ADDRESS --certs FOLDER looks at it step by step",
  },
  KERNEL_FEATURE: {
    level: "broken",
    title: "the kernel lacks something that the node uses",
    why: "policies or tunnels cannot be put in force",
    fix: "load the module that the finding names (modprobe), or use a kernel that has it",
  },
  AGENT_SILENT: {
    level: "broken",
    title: "no agent runs on a node",
    why: "what is in the kernel stays in force, and nothing new comes: pods that start get no routes and no rules, and changed policies are not put in force",
    fix: "start it, and see in its log why it ended: kubectl -n kube-system logs DAEMONSET-POD --previous, or journalctl",
  },
  AGENTS_TWO: {
    level: "warning",
    title: "the packet rules of two agents are on a node",
    why: "both want to decide about the same packets, and each repairs what the other removes; or a hand-over was not finished",
    fix: "stop one of the two agents; where the original's stays: cattail node hand-over, where ours stays: restart it, and it removes the other's rules",
  },
  LEFTOVER_INTERFACE: {
    level: "warning",
    title: "an interface of a pod that is not there any more",
    why: "its route may catch packets for the next pod that gets the address",
    fix: "ip link delete NAME, once it is sure that no pod uses it",
  },
} as const satisfies { readonly [code: string]: CatalogueEntry };

export type NodeFindingCode = keyof typeof nodeCatalogue;
export const nodeFindingCodes = Object.keys(nodeCatalogue) as NodeFindingCode[];

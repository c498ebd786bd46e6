// The environment of calico-node's start-up, of what follows it, and of its health command: one table. docs/reference/node-startup.md is held to it by
// a test (settings.test.ts). Values that decide a step are text here: the step says what is wrong with one in the original's words.
import { integer, path, string, type ValuesOf, variable } from "../../../base/config/index.ts";
import { exactlyTrue, text, trueInAnyCase, unlessNo } from "./types.ts";

const anAddress = "autodetect, none, an address or a CIDR";
const aMethod =
  "first-found, interface=REGEXPS, skip-interface=REGEXPS, cidr=CIDRS, can-reach=HOST or kubernetes-internal-ip; lists are separated by commas";
const aMode = "never or off, always, crosssubnet or cross-subnet (in any case)";
const aPool = "a CIDR, or none for no default pool of the family";

export const settingsTable = {
  nodeName: variable("node", ["NODENAME"], {
    type: string,
    default: "",
    says: "Name of the node; spaces around it are dropped, its case is kept. Without it the name file decides, then `HOSTNAME` in small letters, then the machine's own name in small letters.",
  }),
  hostName: variable("node", ["HOSTNAME"], {
    type: string,
    default: "",
    says: "The third place to look for the node's name.",
  }),
  nodeNameFile: variable("node", ["CALICO_NODENAME_FILE"], {
    type: path,
    default: "/var/lib/calico/nodename",
    says: "The name file: read when `NODENAME` is empty, written at the end of a start-up. The CNI plugin waits for it.",
  }),
  shutdownTimeFile: variable("node", ["CALICO_SHUTDOWN_TIMESTAMP_FILE"], {
    type: path,
    default: "/var/lib/calico/shutdownTS",
    says: "When the node was shut down last: written by `node shutdown`, removed when start-up is complete.",
  }),
  kubernetesNodeName: variable("node", ["CALICO_K8S_NODE_REF"], {
    type: string,
    default: "",
    says: "Name of the Kubernetes Node that is read and marked, where it is not the node's own. With etcd also stored as the Node's orchRef.",
  }),
  backend: variable("node", ["CALICO_NETWORKING_BACKEND"], {
    type: string,
    default: "",
    says: "`none`: nothing about addresses, AS number or BGP is written, and the node is not marked; `vxlan`: no BGP daemon; anything else is as `bird`.",
  }),
  clusterType: variable("node", ["CLUSTER_TYPE"], {
    type: string,
    default: "",
    says: "Words, separated by commas, that are added to the ClusterInformation's clusterType.",
  }),
  logLevel: variable("node", ["CALICO_STARTUP_LOGLEVEL"], {
    type: text("panic, fatal, error, warn, info, debug or trace"),
    default: "info",
    says: "How much start-up logs.",
  }),
  disableFileLogging: variable("node", ["CALICO_DISABLE_FILE_LOGGING"], {
    type: trueInAnyCase,
    default: false,
    says: "Otherwise the folder /var/log/calico is made where it is missing.",
  }),
  nodeUserId: variable("node", ["NODE_USER_ID"], {
    type: integer({ min: 0 }),
    default: 1000,
    says: "`node hostpath-init`: who owns the folders that it makes.",
  }),
  ip: variable("address", ["IP"], {
    type: text(anAddress),
    default: "",
    says: "The node's IPv4 address. Empty: what the Node has already, else autodetect.",
  }),
  ip6: variable("address", ["IP6"], {
    type: text(anAddress),
    default: "",
    says: "The node's IPv6 address. Empty: what the Node has already; nothing is detected.",
  }),
  method4: variable("address", ["IP_AUTODETECTION_METHOD"], {
    type: text(aMethod),
    default: "first-found",
    says: "How the IPv4 address is detected.",
  }),
  method6: variable("address", ["IP6_AUTODETECTION_METHOD"], {
    type: text(aMethod),
    default: "first-found",
    says: "How the IPv6 address is detected.",
  }),
  pollInterval: variable("address", ["AUTODETECT_POLL_INTERVAL"], {
    type: text("a duration such as 60s or 2m"),
    default: "60s",
    says: "How often the address monitor looks; a change that the kernel tells of is seen at once.",
  }),
  disableConflictCheck: variable("address", ["DISABLE_NODE_IP_CHECK"], {
    type: exactlyTrue,
    default: false,
    says: "Whether another node may have the same address.",
  }),
  asNumber: variable("address", ["AS"], {
    type: text("an AS number, plain (65001) or dotted (1.10)"),
    default: "",
    says: "AS number of the node. Empty: what the Node has, else the cluster's.",
  }),
  noDefaultPools: variable("pools", ["NO_DEFAULT_POOLS"], {
    type: trueInAnyCase,
    default: false,
    says: "No default pools are made. Together with a pool's CIDR it is an error.",
  }),
  pool4Cidr: variable("pools", ["CALICO_IPV4POOL_CIDR"], {
    type: text(aPool),
    default: "",
    says: "Default IPv4 pool. Empty: kubeadm's podSubnet, else 192.168.0.0/16, or the first of 172.16.0.0/16 to 172.31.0.0/16 that the host has no address in.",
  }),
  pool6Cidr: variable("pools", ["CALICO_IPV6POOL_CIDR"], {
    type: text(aPool),
    default: "",
    says: "Default IPv6 pool. Empty: kubeadm's podSubnet, else a random fdXX:XXXX:XXXX::/48.",
  }),
  pool4BlockSize: variable("pools", ["CALICO_IPV4POOL_BLOCK_SIZE"], {
    type: text("a number from 20 to 32"),
    default: "26",
    says: "Block size of the default IPv4 pool.",
  }),
  pool6BlockSize: variable("pools", ["CALICO_IPV6POOL_BLOCK_SIZE"], {
    type: text("a number from 116 to 128"),
    default: "122",
    says: "Block size of the default IPv6 pool.",
  }),
  pool4Ipip: variable("pools", ["CALICO_IPV4POOL_IPIP"], {
    type: text(aMode),
    default: "",
    says: "IPIP mode of the default IPv4 pool. Empty: Never.",
  }),
  pool4Vxlan: variable("pools", ["CALICO_IPV4POOL_VXLAN"], {
    type: text(aMode),
    default: "",
    says: "VXLAN mode of the default IPv4 pool. Empty: Never.",
  }),
  pool6Vxlan: variable("pools", ["CALICO_IPV6POOL_VXLAN"], {
    type: text(aMode),
    default: "",
    says: "VXLAN mode of the default IPv6 pool. Empty: Never.",
  }),
  pool4NatOutgoing: variable("pools", ["CALICO_IPV4POOL_NAT_OUTGOING"], {
    type: unlessNo,
    default: true,
    emptyCounts: true,
    says: "Whether what leaves the default IPv4 pool gets the node's address.",
  }),
  pool6NatOutgoing: variable("pools", ["CALICO_IPV6POOL_NAT_OUTGOING"], {
    type: unlessNo,
    default: false,
    emptyCounts: true,
    says: "Whether what leaves the default IPv6 pool gets the node's address.",
  }),
  pool4NodeSelector: variable("pools", ["CALICO_IPV4POOL_NODE_SELECTOR"], {
    type: text("a selector"),
    default: "",
    says: "Which nodes use the default IPv4 pool. Empty: all().",
  }),
  pool6NodeSelector: variable("pools", ["CALICO_IPV6POOL_NODE_SELECTOR"], {
    type: text("a selector"),
    default: "",
    says: "Which nodes use the default IPv6 pool. Empty: all().",
  }),
  pool4DisableBgpExport: variable("pools", ["CALICO_IPV4POOL_DISABLE_BGP_EXPORT"], {
    type: unlessNo,
    default: false,
    emptyCounts: true,
    says: "Whether the routes of the default IPv4 pool are kept from BGP peers.",
  }),
  pool6DisableBgpExport: variable("pools", ["CALICO_IPV6POOL_DISABLE_BGP_EXPORT"], {
    type: unlessNo,
    default: false,
    emptyCounts: true,
    says: "Whether the routes of the default IPv6 pool are kept from BGP peers.",
  }),
  ipv6Support: variable("pools", ["FELIX_IPV6SUPPORT"], {
    type: unlessNo,
    default: true,
    emptyCounts: true,
    says: "Without it there is no default IPv6 pool.",
  }),
  wireguardHostEncryption: variable("pools", ["FELIX_WIREGUARDHOSTENCRYPTIONENABLED"], {
    type: unlessNo,
    default: false,
    says: "WireGuard then uses the node's own address, and gets none from a pool.",
  }),
  waitForDatastore: variable("datastore", ["WAIT_FOR_DATASTORE"], {
    type: exactlyTrue,
    default: false,
    says: "Wait for the datastore, however long it takes. Otherwise start-up gives up when it did not answer for 30 s.",
  }),
  healthPort: variable("health", ["FELIX_HEALTHPORT"], {
    type: integer({ min: 1, max: 65535 }),
    default: 9099,
    says: "Port of the agent's health server.",
  }),
  healthHost: variable("health", ["FELIX_HEALTHHOST"], {
    type: string,
    default: "localhost",
    says: "Host of the agent's health server.",
  }),
  healthEnabled: variable("health", ["FELIX_HEALTHENABLED"], {
    type: exactlyTrue,
    default: false,
    says: "Whether complete-startup waits for the agent.",
  }),
} as const;

export type NodeSettings = ValuesOf<typeof settingsTable>;
export type NodeSettingName = keyof NodeSettings;

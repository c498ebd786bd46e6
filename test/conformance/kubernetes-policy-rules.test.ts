// What other suites check of NetworkPolicy (Kubernetes' own end-to-end tests, Cyclonus), as rules: each row is one rule, with policies that
// show it and what it opens. The verdicts and the oracle are both asked, so that neither is trusted because of the other.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { judge, worldOf } from "../../src/calico/policy/index.ts";
import type { NetworkPolicy, OracleCluster } from "../kit/kubernetes-policy/objects.ts";
import { kubernetesAllows } from "../kit/kubernetes-policy/oracle.ts";
import { connectionOf, worldOfCluster } from "../kit/kubernetes-policy/world.ts";
import { readFlow } from "../kit/policy/flow.ts";

type Spec = NetworkPolicy["spec"];
type Row = {
  readonly rule: string;
  /** Policies of namespace red. */
  readonly policies: readonly Spec[];
  readonly open: readonly string[];
  readonly closed: readonly string[];
};

const pod = (namespace: string, name: string, ips: readonly string[], labels = {}, ports: readonly object[] = []) => ({
  ...{ namespace, name, ips, labels: { pod: name, ...labels } },
  ports: ports as OracleCluster["pods"][number]["ports"],
});
const http = (port: number) => [
  { name: "http", port, protocol: "TCP" },
  { name: "dns", port: 53, protocol: "UDP" },
];
const cluster: Omit<OracleCluster, "networkPolicies"> = {
  namespaces: {
    red: { ns: "red", "kubernetes.io/metadata.name": "red" },
    blue: { ns: "blue", "kubernetes.io/metadata.name": "blue" },
    green: { "kubernetes.io/metadata.name": "green" },
  },
  pods: [
    pod("red", "web", ["10.65.0.2", "fd65::2"], { app: "x" }, http(8080)),
    pod("red", "db", ["10.65.0.3", "fd65::3"], {}, http(8081)),
    pod("blue", "web", ["10.65.0.4", "fd65::4"], { app: "x" }, http(80)),
    pod("blue", "client", ["10.65.0.5", "fd65::5"]),
    pod("green", "tools", ["10.65.0.6", "fd65::6"]),
  ],
  clusterPolicies: [],
};

const all = { podSelector: {} };
const web = { podSelector: { matchLabels: { pod: "web" } } };
const ingress = (...rules: NonNullable<Spec["ingress"]>): Spec => ({
  ...all,
  policyTypes: ["Ingress"],
  ingress: rules,
});
const egress = (...rules: NonNullable<Spec["egress"]>): Spec => ({ ...all, policyTypes: ["Egress"], egress: rules });
const from = (...peers: NonNullable<NonNullable<Spec["ingress"]>[number]["from"]>) => ingress({ from: peers });

const rows: readonly Row[] = [
  {
    rule: "a pod that no policy selects is open in both directions",
    policies: [{ ...web, policyTypes: ["Ingress"] }],
    open: ["blue/client > red/db tcp:80", "red/web > ext1 udp:53", "red/db > blue/web icmp"],
    closed: ["blue/client > red/web tcp:80", "ext1 > red/web icmp"],
  },
  {
    rule: "no policyTypes: Ingress; and Egress where there are egress rules",
    policies: [
      { ...web, ingress: [] },
      { podSelector: { matchLabels: { pod: "db" } }, egress: [{ ports: [{ port: 443 }] }] },
    ],
    open: ["red/web > blue/web tcp:80"],
    closed: ["blue/client > red/web tcp:80", "blue/client > red/db tcp:80", "red/db > blue/web tcp:80"],
  },
  {
    rule: "rules of a direction that policyTypes does not name say nothing",
    policies: [{ ...all, policyTypes: ["Egress"], ingress: [], egress: [{}] }],
    open: ["blue/client > red/web tcp:80", "red/web > ext1 tcp:80"],
    closed: [],
  },
  {
    rule: "an empty rule opens everything, whatever other policies leave closed",
    policies: [ingress(), ingress({})],
    open: ["blue/client > red/web tcp:80", "ext1 > red/db icmp"],
    closed: [],
  },
  {
    rule: "a policy of one direction does not open the other",
    policies: [{ ...all, policyTypes: ["Ingress", "Egress"] }, ingress({})],
    open: ["blue/client > red/web tcp:80"],
    closed: ["red/web > blue/web tcp:80", "red/web > red/db tcp:80"],
  },
  {
    rule: "podSelector alone means pods of the policy's namespace",
    policies: [from({ podSelector: { matchLabels: { app: "x" } } })],
    open: ["red/web > red/db tcp:80"],
    closed: ["blue/web > red/db tcp:80", "blue/client > red/db tcp:80", "ext1 > red/db tcp:80"],
  },
  {
    rule: "an empty podSelector means all pods of the policy's namespace, and an empty namespaceSelector all of all",
    policies: [
      { ...web, ingress: [{ from: [{ podSelector: {} }] }] },
      { podSelector: { matchLabels: { pod: "db" } }, ingress: [{ from: [{ namespaceSelector: {} }] }] },
    ],
    open: ["red/db > red/web tcp:80", "green/tools > red/db tcp:80"],
    closed: ["green/tools > red/web tcp:80", "ext1 > red/db tcp:80"],
  },
  {
    rule: "namespaceSelector and podSelector in one peer: both",
    policies: [
      from({ namespaceSelector: { matchLabels: { ns: "blue" } }, podSelector: { matchLabels: { pod: "web" } } }),
    ],
    open: ["blue/web > red/db tcp:80"],
    closed: ["blue/client > red/db tcp:80", "red/web > red/db tcp:80"],
  },
  {
    rule: "namespaceSelector and podSelector in two peers: either",
    policies: [
      from({ namespaceSelector: { matchLabels: { ns: "blue" } } }, { podSelector: { matchLabels: { pod: "web" } } }),
    ],
    open: ["blue/web > red/db tcp:80", "blue/client > red/db tcp:80", "red/web > red/db tcp:80"],
    closed: ["green/tools > red/db tcp:80"],
  },
  {
    rule: "a namespace by the name that the API server gives it as a label",
    policies: [from({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "green" } } })],
    open: ["green/tools > red/db tcp:80"],
    closed: ["blue/web > red/db tcp:80"],
  },
  {
    rule: "NotIn and DoesNotExist hold where the label is absent, In and Exists do not",
    policies: [
      from(
        { namespaceSelector: { matchExpressions: [{ key: "ns", operator: "NotIn", values: ["blue", "red"] }] } },
        { podSelector: { matchExpressions: [{ key: "app", operator: "Exists" }] } },
      ),
      {
        ...web,
        ingress: [{ from: [{ podSelector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] } }] }],
      },
    ],
    open: ["green/tools > red/db tcp:80", "red/web > red/db tcp:80", "red/db > red/web tcp:80"],
    closed: ["blue/web > red/db tcp:80"],
  },
  {
    rule: "all expressions of a selector must hold",
    policies: [
      from({
        namespaceSelector: {
          matchLabels: { ns: "blue" },
          matchExpressions: [
            { key: "ns", operator: "In", values: ["red", "blue"] },
            { key: "none", operator: "Exists" },
          ],
        },
      }),
    ],
    open: [],
    closed: ["blue/web > red/db tcp:80", "red/web > red/db tcp:80"],
  },
  {
    rule: "peers and ports of one rule: both; two rules: either",
    policies: [
      ingress(
        { from: [{ namespaceSelector: { matchLabels: { ns: "blue" } } }], ports: [{ port: 80 }] },
        { ports: [{ port: 443 }] },
      ),
    ],
    open: ["blue/web > red/db tcp:80", "green/tools > red/db tcp:443", "ext1 > red/db tcp:443"],
    closed: ["green/tools > red/db tcp:80", "blue/web > red/db tcp:81"],
  },
  {
    rule: "a port without protocol is TCP, and a protocol without port is all its ports",
    policies: [ingress({ ports: [{ port: 80 }, { protocol: "UDP" }] })],
    open: ["blue/web > red/db tcp:80", "blue/web > red/db udp:1"],
    closed: ["blue/web > red/db sctp:80", "blue/web > red/db tcp:81", "blue/web > red/db icmp"],
  },
  {
    rule: "SCTP is neither TCP nor UDP",
    policies: [ingress({ ports: [{ protocol: "SCTP", port: 80 }] })],
    open: ["blue/web > red/db sctp:80"],
    closed: ["blue/web > red/db tcp:80", "blue/web > red/db udp:80"],
  },
  {
    rule: "endPort is the last one of a range",
    policies: [ingress({ ports: [{ protocol: "TCP", port: 80, endPort: 90 }] })],
    open: ["blue/web > red/db tcp:80", "blue/web > red/db tcp:90"],
    closed: ["blue/web > red/db tcp:79", "blue/web > red/db tcp:91", "blue/web > red/db udp:80"],
  },
  {
    rule: "a port's name is another number in each pod, and holds for its own protocol only",
    policies: [ingress({ ports: [{ port: "http" }, { port: "dns", protocol: "TCP" }] })],
    open: ["blue/web > red/web tcp:8080", "blue/web > red/db tcp:8081"],
    closed: [
      "blue/web > red/web tcp:8081",
      "blue/web > red/db tcp:8080",
      "blue/web > red/db tcp:53",
      "blue/web > red/db udp:53",
    ],
  },
  {
    rule: "in egress rules a port's name is the destination's",
    policies: [egress({ to: [{ namespaceSelector: {} }], ports: [{ port: "http" }] })],
    open: ["red/db > red/web tcp:8080", "red/db > blue/web tcp:80"],
    closed: ["red/db > blue/web tcp:8080", "red/db > green/tools tcp:8080", "red/db > ext1 tcp:80"],
  },
  {
    rule: "ipBlock without its exceptions",
    policies: [from({ ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.12/32"] } })],
    open: ["ext1 > red/db tcp:80"],
    closed: ["ext2 > red/db tcp:80", "red/web > red/db tcp:80", "ext1 > red/db tcp6:80"],
  },
  {
    rule: "an exception of one peer does not close what another opens",
    policies: [
      from({ ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.12/32"] } }, { ipBlock: { cidr: "192.0.2.12/32" } }),
    ],
    open: ["ext1 > red/db tcp:80", "ext2 > red/db tcp:80"],
    closed: ["blue/web > red/db tcp:80"],
  },
  {
    rule: "ipBlock of one family says nothing about the other",
    policies: [egress({ to: [{ ipBlock: { cidr: "::/0", except: ["2001:db8::12/128"] } }] })],
    open: ["red/db > ext1 tcp6:80", "red/db > red/web udp6:53"],
    closed: ["red/db > ext1 tcp:80", "red/db > ext2 tcp6:80"],
  },
  {
    rule: "a connection needs both of its ends",
    policies: [
      { ...web, policyTypes: ["Egress"], egress: [{ to: [{ podSelector: { matchLabels: { pod: "db" } } }] }] },
      {
        podSelector: { matchLabels: { pod: "db" } },
        ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: "blue" } } }] }],
      },
    ],
    open: ["blue/web > red/db tcp:80", "red/db > red/web tcp:80"],
    closed: ["red/web > red/db tcp:80", "red/web > blue/web tcp:80"],
  },
  {
    rule: "several policies add up",
    policies: [
      ingress({ ports: [{ port: 80 }] }),
      ingress({ ports: [{ port: 443 }] }),
      { ...web, ingress: [{ ports: [{ port: 8080 }] }] },
    ],
    open: ["blue/web > red/db tcp:80", "blue/web > red/db tcp:443", "blue/web > red/web tcp:8080"],
    closed: ["blue/web > red/db tcp:8080"],
  },
  {
    rule: "everything closed but names and one namespace",
    policies: [
      { ...all, policyTypes: ["Ingress", "Egress"] },
      egress({ ports: [{ protocol: "UDP", port: 53 }] }),
      egress({ to: [{ namespaceSelector: { matchLabels: { ns: "blue" } } }] }),
    ],
    open: ["red/web > ext1 udp:53", "red/web > blue/web tcp:80"],
    closed: ["red/web > ext1 tcp:53", "red/web > green/tools tcp:80", "blue/web > red/web tcp:80"],
  },
];

for (const { rule, policies, open, closed } of rows)
  test(rule, () => {
    const whole = {
      ...cluster,
      networkPolicies: policies.map((spec, number) => ({ namespace: "red", name: `p${number}`, spec })),
    };
    const world = worldOfCluster(whole);
    const judged = worldOf(world.data);
    const said = (text: string) => {
      const flow = world.flow(text);
      return "left" in flow ? flow.left : judge(flow, judged).verdict;
    };
    const meant = (text: string) => {
      const connection = connectionOf(readFlow(text), whole);
      return connection !== undefined && kubernetesAllows(connection, whole) ? "allow" : "deny";
    };
    const wanted = Object.fromEntries([
      ...open.map((text) => [text, { verdict: "allow", oracle: "allow" }]),
      ...closed.map((text) => [text, { verdict: "deny", oracle: "deny" }]),
    ]);
    const got = [...open, ...closed].map((text) => [text, { verdict: said(text), oracle: meant(text) }]);
    deepEqual(Object.fromEntries(got), wanted);
  });

// What an operator should look at, decided from the same numbers the page shows. Rules, most urgent first; each says
// what is wrong, why it matters and the next step. An empty answer is the goal.

import type { AttentionView, CertificateView, NodeHealthView, NodeView, SyncerView, WatchView } from "./contract.ts";
import { ageOfView } from "./node-state.ts";

export type AttentionFacts = {
  readonly nowMs: number;
  readonly notReady: readonly string[];
  readonly datastore: { readonly state: "reachable" | "unreachable" | "starting"; readonly detail: string };
  readonly syncers: readonly SyncerView[];
  readonly nodes: readonly NodeView[];
  /** What the nodes say of themselves. */
  readonly health: readonly NodeHealthView[];
  readonly watches: readonly WatchView[];
  readonly certificates: readonly CertificateView[];
  readonly invalidObjects: readonly { readonly object: string; readonly field: string; readonly rule: string }[];
  /** Of a datastore that is made of files: file, place and what is wrong there. */
  readonly manifestProblems: readonly string[];
};

const dayMs = 86_400_000;

export function attention(facts: AttentionFacts): AttentionView[] {
  return [
    ...datastoreAttention(facts),
    ...readyAttention(facts),
    ...certificateAttention(facts),
    ...watchAttention(facts),
    ...nodeAttention(facts),
    ...healthAttention(facts),
    ...objectAttention(facts),
    ...manifestAttention(facts),
  ];
}

function datastoreAttention({ datastore }: AttentionFacts): AttentionView[] {
  if (datastore.state !== "unreachable") return [];
  return [
    {
      severity: "problem",
      what: "The datastore cannot be reached",
      why: `Nodes keep what they have, but nothing new reaches them. ${datastore.detail}`,
      fix: "Check the API server (or etcd) and the network to it; cattail goes on by itself once it answers.",
    },
  ];
}

// While the datastore is being read, not being ready is as it should be.
function readyAttention({ notReady, syncers }: AttentionFacts): AttentionView[] {
  if (notReady.length === 0 || syncers.some(({ state }) => state !== "in sync")) return [];
  return [
    {
      severity: "problem",
      what: "This server reports that it is not ready",
      why: `Connected nodes stay, but Kubernetes sends no new ones here: ${notReady.join("; ")}.`,
      fix: "The readiness probe says the same; its address answers in JSON when asked for application/json.",
    },
  ];
}

function certificateAttention({ certificates, nowMs }: AttentionFacts): AttentionView[] {
  const found: AttentionView[] = [];
  for (const { file, expiresAtMs, problem } of certificates) {
    const days = Math.floor((expiresAtMs - nowMs) / dayMs);
    if (problem !== undefined) {
      found.push({
        severity: "problem",
        what: `${file} could not be used`,
        why: `The last good certificate stays in use. ${problem}`,
        fix: "Write a matching certificate and key; they are picked up without a restart.",
      });
    } else if (days < 30) {
      found.push({
        severity: days < 7 ? "problem" : "warning",
        what: days < 0 ? `${file} has expired` : `${file} expires in ${days} days`,
        why: "Once it has expired, no client can connect any more.",
        fix: "Run cattail certs renew and replace the file; it is picked up without a restart.",
      });
    }
  }
  return found;
}

// One card whatever the number: they have one reason, and one list of rules mends them all.
function watchAttention({ watches }: AttentionFacts): AttentionView[] {
  const forbidden = watches.filter(({ rights }) => rights === "forbidden").map(({ kind }) => kind);
  if (forbidden.length === 0) return [];
  const these = forbidden.length === 1 ? "this kind" : "these kinds";
  return [
    {
      severity: forbidden.length === watches.length ? "problem" : "warning",
      what:
        forbidden.length === watches.length
          ? "The server may read nothing in the cluster"
          : `The server may not read ${some(forbidden)}`,
      why: `It has no right to list and watch ${these}, so it serves no object of ${these}. It is not ready while one of them is needed for enforcement.`,
      fix: "Run cattail manifests rbac | kubectl apply -f -, or paste the rules on the page of the watches into the role of this server.",
      look: "watches" as const,
    },
  ];
}

function nodeAttention({ nodes }: AttentionFacts): AttentionView[] {
  const missing = nodes.filter(({ state }) => state === "not connected");
  const slow = nodes.filter(({ state }) => state === "behind");
  const found: AttentionView[] = [];
  if (missing.length > 0) {
    found.push({
      severity: "warning",
      what: `${count(missing.length, "node")} not connected: ${some(missing.map(({ node }) => node))}`,
      why: `${missing.length === 1 ? "It receives" : "They receive"} no updates, and still ${missing.length === 1 ? "enforces" : "enforce"} the policies from before ${missing.length === 1 ? "it" : "they"} lost the connection.`,
      fix: "See whether calico-node runs there and what its log says of Typha; clients refused here are in this server's log.",
      look: "nodes",
    });
  }
  if (slow.length > 0) {
    found.push({
      severity: "warning",
      what: `${count(slow.length, "node")} behind: ${some(slow.map(({ node }) => node))}`,
      why: `Updates take effect there up to ${Math.round(oldest(slow) / 1000)} s late; other nodes do not wait for ${slow.length === 1 ? "it" : "them"}.`,
      fix: "Check the load of the node, and the network to it.",
      look: "nodes",
    });
  }
  return found;
}

// A node that does not answer is named only if it did before: who never reports may have been told not to.
function healthAttention({ health }: AttentionFacts): AttentionView[] {
  const unwell = health.filter((node) => node.silent === null && node.reasons.length > 0);
  const silent = health.filter((node) => node.silent !== null && node.source === "report");
  const [first] = unwell;
  const [lost] = silent;
  return [
    ...(first === undefined
      ? []
      : [
          {
            severity: "warning" as const,
            what: `${count(unwell.length, "node")} not well: ${some(unwell.map(({ node }) => node))}`,
            why: `${first.node}: ${first.reasons[0]}`,
            fix: "The page of the node has all of it; cattail doctor node, run there, names the cause.",
            look: "nodes" as const,
          },
        ]),
    ...(lost === undefined
      ? []
      : [
          {
            severity: "warning" as const,
            what: `${count(silent.length, "node")} silent: ${some(silent.map(({ node }) => node))}`,
            why: `${silent.length === 1 ? "It" : "Each"} has reported before, and does not answer now: ${lost.silent?.why}.`,
            fix: "See whether the agent runs there, and whether this server reaches the port of its report.",
            look: "nodes" as const,
          },
        ]),
  ];
}

function objectAttention({ invalidObjects }: AttentionFacts): AttentionView[] {
  const [first] = invalidObjects;
  if (first === undefined) return [];
  return [
    {
      severity: "warning",
      what: `${count(invalidObjects.length, "object")} not valid: ${some(invalidObjects.map(({ object }) => object))}`,
      why: `To the nodes these do not exist. ${first.object}: ${first.field}: ${first.rule}`,
      fix: "Correct them with kubectl edit; the log names each object, field and rule.",
    },
  ];
}

function manifestAttention({ manifestProblems }: AttentionFacts): AttentionView[] {
  const [first] = manifestProblems;
  if (first === undefined) return [];
  return [
    {
      severity: "warning",
      what: `${manifestProblems.length} ${manifestProblems.length === 1 ? "problem" : "problems"} in the manifests`,
      why: `A file that cannot be used stays as it last was, or is missing if it never could be. ${first}`,
      fix: "Correct the file; it is read again at once. cattail doctor lists every problem with its line.",
    },
  ];
}

function oldest(nodes: readonly NodeView[]): number {
  return Math.max(...nodes.flatMap(({ connections }) => connections.map(ageOfView)));
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? " is" : "s are"}`;
}

function some(names: string[]): string {
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}

// docs/reference/doctor.md, made from the catalogues; a test keeps it fresh.
import { type CatalogueEntry, nodeCatalogue, nodeFindingCodes } from "../../node/diagnosis/index.ts";
import { catalogue, type Entry, findingCodes } from "./catalogue.ts";

export function doctorPage(): string {
  const rows = findingCodes.map((code) => row(code, catalogue[code]));
  const nodeRows = nodeFindingCodes.map((code) => row(code, nodeCatalogue[code]));
  return `# What \`cattail doctor\` finds

| command | what it checks |
|---|---|
| \`cattail doctor\` | what a server needs before it starts: settings, TLS files, ports, datastore, permissions |
| \`cattail doctor --server HOST:PORT\` | a running server (Cattail or calico/typha), from the side of a node; with several \`--server\` it also compares them |
| \`cattail doctor node\` | the host it runs on, as a node of the cluster (Cattail's or the original's): name, address, routes, forwarding, firewalls of others, MTU, BGP sessions, the CNI plugin's files; and whether nodes and pods answer |
| \`cattail doctor path POD POD\` | the way of a packet between two pods, there and back, and the one cause why it is broken |

The doctor changes nothing. The exit code is 0 when all is well (notes are allowed), 1 with warnings, 2 when something is broken. \`-o json\` prints the findings as JSON. The codes do not change between versions.

[\`cattail lab\`](lab.md) builds a cluster on one machine in which the usual ones can be tried: \`cattail lab break --list\` names each breakage with the finding that it is.

## Nodes and paths

\`doctor node\` runs as root on the node (or in its pod with \`hostNetwork\`). It reads the datastore as the agent does: by \`DATASTORE_TYPE\`, \`KUBECONFIG\`, \`ETCD_ENDPOINTS\`, or by \`--kubeconfig\`, \`--etcd\` and \`--directory\`.
It looks at the kernel, the files of the node and the datastore, and asks of the agent only whether somebody listens where it does, so it works on nodes of the original, too. (Without \`FELIX_HEALTHENABLED\` in its own environment it cannot know that the original should.) It sends pings: to the other nodes, small and as large as the interface takes them; to up to three pods of each node; to the same pods with one hop, which
tells whether packets arrive at their node; and from pods of this node to others.

Two sides say more than one. What the facts of one host leave open, those of the other decide:

\`\`\`sh
cattail doctor node -o facts > cka003.json          # on cka003
cattail doctor node --facts cka003.json             # on cka002
cattail doctor path default/a default/b --facts cka003.json
\`\`\`

What fails in the pings is told only where nothing else explains it: a node that does not forward is one finding, and not one for each pod that does not answer.

Where pings fail, it also asks who else could have dropped them: rules of other firewalls at any hook (by their conditions, or by their counters, which are read before and after the pings), hardware addresses and the entries of VXLAN devices against what the other node has, an interface that does not forward, a full
connection table, rules of routing, and the inside of a pod that does not answer its own node. What lets the pings through is no finding. Of each node three pods are pinged; \`--pod NAMESPACE/NAME\` adds one, and \`doctor path\` always pings its two ends.

IPv4 and IPv6 are looked at each by itself, where pods or blocks have it: addresses, routes, tunnels, forwarding, firewalls, sessions, policies and pings. What is wrong with both is told once.
Between two pods with both there are two paths; \`doctor path\` walks each (with addresses instead of names: that one), and \`-o json\` has them as \`paths\`. On etcd without Kubernetes pods are known by their WorkloadEndpoints.

\`doctor path\` ends with exit code 2 where the path is broken, 1 where something could not be looked at (it prints what to run there), else 0.

| code | level | what is wrong | why it matters | how to fix it |
|---|---|---|---|---|
${nodeRows.join("\n")}

## Servers

| code | level | what is wrong | why it matters | how to fix it |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

function row(code: string, { level, title, why, fix }: Entry | CatalogueEntry): string {
  return `| \`${code}\` | ${level} | ${cell(title)} | ${cell(why)} | ${cell(fix)} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

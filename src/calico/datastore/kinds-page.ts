// docs/reference/kinds.md, made from the table of kinds: where each is stored, and what a missing one or a missing right
// does to the server.
import { followedKinds, type Kind, type KindInfo, kindInfo, kindNames } from "../kinds/index.ts";
import { whenForbidden } from "./missing-rights.ts";

export function kindsPage(): string {
  return `# Kinds

What the server follows, where it finds it, and what happens when it may not or cannot read it; then the kinds that only
other programs use. This page is made from the files of the kinds
(\`src/calico/kinds\`) by \`node tools/generate-docs.ts\`; a test keeps it fresh.

"Enforcement" kinds decide which packets pass: while one of them may not be read, the server is not ready, and the log,
\`/watches\` and \`cattail doctor\` show the missing rule as YAML ready to paste. "Optional" kinds are taken as empty while
they may not be read: that is warned about once, counted and shown, and tried again, after a while every five minutes. If
the right is taken away later, what was last read of such a kind is kept until it may be read again.

The API server checks rights before existence, so a forbidden list does not tell whether the kind is there. Discovery,
which every authenticated user may ask, does: a kind that does not exist is empty, whatever our rights are.

| Kind | In Kubernetes | In etcd | Carries | When forbidden | When it does not exist |
|---|---|---|---|---|---|
${followedKinds.map(row).join("\n")}

\`<group>\` is \`crd.projectcalico.org/v1\`, or \`projectcalico.org/v3\` where that is configured or the only one of the two.

## Kinds that the server does not follow

Other programs read and write them: address management, the node's agent, the command line.

| Kind | In Kubernetes | In etcd |
|---|---|---|
${kindNames
  .filter((kind) => !followedKinds.includes(kind))
  .map((kind) => `| ${[kind, ...places(kind)].join(" | ")} |`)
  .join("\n")}

## The rights it needs

\`cattail manifests rbac\` prints them, with the service account that has them; \`--api-group projectcalico.org\` prints
them for the other group. The server lists and watches every kind of the first table. At its first start it also reads, creates and
completes the ClusterInformation and creates the tiers that are missing, where it may.
`;
}

function row(kind: Kind): string {
  const forbidden = whenForbidden(kind) === "empty" ? "empty" : "not ready";
  return `| ${[kind, ...places(kind), kindInfo(kind).carries, forbidden, missing(kind)].join(" | ")} |`;
}

/** In Kubernetes, and in etcd. */
function places(kind: Kind): [string, string] {
  const { kubernetes, etcdKey = "", etcdPrefix = etcdKey, namespaced } = kindInfo(kind);
  const place = kubernetes === undefined ? "" : code(`${groupOf(kubernetes, "<group>")} ${kubernetes.plural}`);
  const scope = kubernetes === undefined || !namespaced ? "" : ", namespaced";
  return [`${place}${scope}`, etcdPrefix === "" ? "" : code(etcdPrefix)];
}

function missing(kind: Kind): string {
  const { kubernetes, whenMissing } = kindInfo(kind);
  if (kubernetes === undefined) return "";
  return whenMissing === "custom-resource" ? "empty, looked for every 5 s" : "in sync, looked for every 30 min";
}

function groupOf(source: NonNullable<KindInfo["kubernetes"]>, calico: string): string {
  if (!("version" in source)) return calico;
  return source.group === "" ? source.version : `${source.group}/${source.version}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

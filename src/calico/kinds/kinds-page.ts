// docs/reference/kinds.md, made from the files of the kinds: where each is stored, what a missing one or a missing right
// does to the server, what users call it, and what is filled in and looked at when it is written.
import type { KindInfo, Role } from "./kind.ts";
import { followedKinds, type Kind, kindInfo, kindNames, namedKinds } from "./registry.ts";
import { rightsTo } from "./rights.ts";

export function kindsPage(): string {
  return `# Kinds

The first table lists the kinds that the server watches, where they are stored, and what happens if a kind is forbidden or does not exist. The second table lists the kinds that only other programs use.

| a kind that carries | while it is forbidden |
|---|---|
| enforcement (it decides which packets pass) | the server is not ready. The log, \`/watches\` and \`cattail doctor\` show the missing RBAC rule as YAML |
| optional | the server is ready and sends no objects of this kind. It logs one warning, counts it in \`cattail_forbidden_kinds\`, and tries again, at most every five minutes |

If a permission for an optional kind is taken away later, the server keeps what it last read of it.

The API server checks permissions before it checks whether a kind exists. So the server asks the discovery API, which every authenticated user may use: a kind that does not exist is empty, whatever the permissions are.

This page is generated from the files in \`src/calico/kinds\` by \`npm run docs\`.

## Kinds that the server watches

| Kind | In Kubernetes | In etcd | Carries | When forbidden | When it does not exist |
|---|---|---|---|---|---|
${followedKinds.map(row).join("\n")}

\`<group>\` is \`crd.projectcalico.org/v1\`. It is \`projectcalico.org/v3\` if that is configured, or if the cluster has only that one.

## Kinds that the server does not watch

Other programs use them: IP address management, the agent on a node, the command line.

| Kind | In Kubernetes | In etcd |
|---|---|---|
${kindNames
  .filter((kind) => !followedKinds.includes(kind))
  .map((kind) => `| ${[kind, ...places(kind)].join(" | ")} |`)
  .join("\n")}

## Names

What the command line calls a kind, in any letter case.

| Kind | Names | Namespaced |
|---|---|---|
${namedKinds.map(nameRow).join("\n")}

## Permissions

\`cattail manifests rbac\` prints the permissions that the server needs, with the ServiceAccount. \`--api-group projectcalico.org\` prints them for the other API group. The server lists and watches every kind of the first
table. At its first start it also creates or completes the ClusterInformation, and creates missing tiers, if it is allowed to.

What each program does with a kind, beyond that (\`status\` is the object's status):

| Kind | ${roles.map(([, title]) => title).join(" | ")} |
|---|${roles.map(() => "---|").join("")}
${kindNames
  .filter((kind) => roles.some(([role]) => rightsTo(kind, role).length > 0))
  .map(rightsRow)
  .join("\n")}
`;
}

const roles: readonly [role: Role, title: string][] = [
  ["typha", "Typha"],
  ["node", "node agent"],
  ["cni", "CNI plugin"],
  ["ctl", "command line"],
];

function nameRow(kind: Kind): string {
  const { names = [], namespaced } = kindInfo(kind);
  return `| ${kind} | ${names.map(code).join(" ")} | ${namespaced ? "yes" : ""} |`;
}

function rightsRow(kind: Kind): string {
  const cells = roles.map(([role]) =>
    rightsTo(kind, role)
      .map((right) => right.replace(":", " "))
      .join(", "),
  );
  return `| ${[kind, ...cells].join(" | ")} |`;
}

function row(kind: Kind): string {
  const { carries } = kindInfo(kind);
  const forbidden = carries === "enforcement" ? "not ready" : "empty";
  return `| ${[kind, ...places(kind), carries, forbidden, missing(kind)].join(" | ")} |`;
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

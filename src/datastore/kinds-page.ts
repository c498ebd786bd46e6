// docs/reference/kinds.md, made from the table of kinds: where each is stored, and what a missing one or a missing right
// does to the server.
import { type Kind, type KindInfo, kindInfo, kindNames } from "../model/index.ts";
import { ruleYaml, whenForbidden } from "./rights.ts";

export function kindsPage(): string {
  return `# Kinds

What the server reads, where it finds it, and what happens when it may not or cannot. This page is made from the table of
kinds (\`src/model/kinds.ts\`) by \`node tools/generate-docs.ts\`; a test keeps it fresh.

"Enforcement" kinds decide which packets pass: while one of them may not be read, the server is not ready, and the log,
\`/watches\` and \`cattail doctor\` show the missing rule as YAML ready to paste. "Optional" kinds are empty while they may
not be read: that is warned about once, counted and shown, and tried again every five minutes.

The API server checks rights before existence, so a forbidden list does not tell whether the kind is there. Discovery,
which every authenticated user may ask, does: a kind that does not exist is empty, whatever our rights are.

| Kind | In Kubernetes | In etcd | Carries | When forbidden | When it does not exist |
|---|---|---|---|---|---|
${kindNames.map(row).join("\n")}

\`<group>\` is \`crd.projectcalico.org/v1\`, or \`projectcalico.org/v3\` where that is configured or the only one of the two.

## The rights it needs

For the group \`crd.projectcalico.org\`; the server also creates tiers and the ClusterInformation at its first start, where
it may.

\`\`\`yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: calico-typha
rules:
${rules()}\`\`\`
`;
}

function row(kind: Kind): string {
  const { kubernetes, etcdPrefix = "", carries, namespaced } = kindInfo(kind);
  const place = kubernetes === undefined ? "" : code(`${groupOf(kubernetes, "<group>")} ${kubernetes.plural}`);
  const scope = kubernetes === undefined || !namespaced ? "" : ", namespaced";
  const forbidden = whenForbidden(kind) === "empty" ? "empty" : "not ready";
  const cells = [
    kind,
    `${place}${scope}`,
    etcdPrefix === "" ? "" : code(etcdPrefix),
    carries,
    forbidden,
    missing(kind),
  ];
  return `| ${cells.join(" | ")} |`;
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

function rules(): string {
  const plurals = new Map<string, string[]>();
  for (const kind of kindNames) {
    const { kubernetes } = kindInfo(kind);
    if (kubernetes === undefined) continue;
    const group = "version" in kubernetes ? kubernetes.group : "crd.projectcalico.org";
    plurals.set(group, [...(plurals.get(group) ?? []), kubernetes.plural]);
  }
  const texts = [...plurals].map(([group, names]) => ruleYaml(group, names));
  return texts.join("").replaceAll(/^/gm, "  ").replace(/ {2}$/, "");
}

function code(text: string): string {
  return `\`${text}\``;
}

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { readManifests } from "./read-manifests.ts";

const tier = (name: string) => `apiVersion: projectcalico.org/v3\nkind: Tier\nmetadata: {name: ${name}}\n`;
const named = (text: string) => readManifests(text).objects.map(({ kind, id }) => `${kind} ${id.namespace}/${id.name}`);

const good: { name: string; text: string; objects: string[] }[] = [
  { name: "an empty file", text: "", objects: [] },
  { name: "only comments", text: "# nothing\n---\n# here\n", objects: [] },
  { name: "one document", text: tier("a"), objects: ["Tier /a"] },
  { name: "several documents", text: `---\n${tier("a")}---\n${tier("b")}...\n`, objects: ["Tier /a", "Tier /b"] },
  {
    name: "both of Calico's groups",
    text: `${tier("a")}---\n${tier("b").replace("projectcalico.org/v3", "crd.projectcalico.org/v1")}`,
    objects: ["Tier /a", "Tier /b"],
  },
  {
    name: "Calico's and Kubernetes' policies, which share a name",
    text: [
      "apiVersion: projectcalico.org/v3\nkind: NetworkPolicy\nmetadata: {name: a, namespace: x}",
      "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: a, namespace: x}",
    ].join("\n---\n"),
    objects: ["NetworkPolicy x/a", "KubernetesNetworkPolicy x/a"],
  },
  {
    name: "a namespaced object without a namespace goes to default",
    text: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
    objects: ["Pod default/a"],
  },
  {
    name: "a List",
    text: `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n}}\n`,
    objects: ["Node /n"],
  },
  {
    name: "a typed list, whose items need not say what they are",
    text: `{"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "n"}}]}`,
    objects: ["Node /n"],
  },
  { name: "kinds of others are passed over", text: "apiVersion: apps/v1\nkind: Deployment\n", objects: [] },
  { name: "an unknown version is another kind", text: tier("a").replace("v3", "v9"), objects: [] },
  {
    name: "JSON",
    text: JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } }),
    objects: ["Node /n"],
  },
];
for (const { name, text, objects } of good) {
  test(`read: ${name}`, () => {
    deepEqual(named(text), objects);
    deepEqual(readManifests(text).errors, []);
  });
}

const bad: { name: string; text: string; at: string; says: RegExp }[] = [
  { name: "bad YAML", text: `${tier("a")}---\nspec: [1, 2\nx: }\n`, at: "6:1", says: /./ },
  { name: "a tab as indentation", text: "spec:\n\tx: 1\n", at: "2:1", says: /[Tt]ab/ },
  { name: "the same key twice", text: "a: 1\na: 2\n", at: "2:1", says: /unique/ },
  { name: "broken JSON", text: '{\n  "a": 1,\n  "b" 2\n}', at: "3:7", says: /./ },
  { name: "no kind", text: `${tier("a")}---\napiVersion: v1\n`, at: "5:1", says: /kind is missing/ },
  { name: "no apiVersion", text: "kind: Tier\n", at: "1:1", says: /apiVersion is missing/ },
  { name: "no name", text: tier("a").replace("{name: a}", "{}"), at: "1:1", says: /metadata.name/ },
  { name: "a name with a slash", text: tier('"a/b"'), at: "1:1", says: /metadata.name/ },
  { name: "a document that is a list", text: "- a\n- b\n", at: "1:1", says: /must be a mapping/ },
  { name: "a list's bad item", text: "apiVersion: v1\nkind: List\nitems:\n- 7\n", at: "4:3", says: /item of a List/ },
  { name: "an alias bomb", text: bomb(), at: "1:1", says: /alias/ },
  {
    name: "nesting without end",
    text: `apiVersion: v1\nkind: Node\nx: ${"[".repeat(5_000)}`,
    at: "1:1",
    says: /too deep/,
  },
  {
    name: "nesting without end in JSON",
    text: `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
    at: "1:1",
    says: /too deep/,
  },
];
for (const { name, text, at, says } of bad) {
  test(`refused with line and column: ${name}`, () => {
    const [error] = readManifests(text).errors;
    match(error?.says ?? "", says);
    equal(`${error?.line}:${error?.column}`, at);
  });
}

test("numbers beyond 2^53 stay exact, others are numbers", () => {
  const text = `${tier("a")}spec: {big: 1794729939941964722, small: 7, half: 0.5}\n`;
  deepEqual(readManifests(text).objects[0]?.value.spec, { big: 1794729939941964722n, small: 7, half: 0.5 });
});

test("a field called __proto__ is a field", () => {
  const value = readManifests(`${tier("a")}__proto__: {polluted: yes}\n`).objects[0]?.value ?? {};
  equal(Object.getPrototypeOf(value), Object.prototype);
  deepEqual(Object.keys(value).sort(), ["__proto__", "apiVersion", "kind", "metadata"]);
});

const kindsByType: { apiVersion: string; kind: string; read: string }[] = [
  { apiVersion: "projectcalico.org/v3", kind: "Profile", read: "Profile" },
  { apiVersion: "projectcalico.org/v3", kind: "WorkloadEndpoint", read: "WorkloadEndpoint" },
  { apiVersion: "projectcalico.org/v3", kind: "LiveMigration", read: "LiveMigration" },
  { apiVersion: "projectcalico.org/v3", kind: "Node", read: "Node" },
  { apiVersion: "v1", kind: "Node", read: "Node" },
  { apiVersion: "projectcalico.org/v3", kind: "IPAMConfiguration", read: "IPAMConfig" },
  { apiVersion: "projectcalico.org/v3", kind: "IPAMConfig", read: "IPAMConfig" },
  { apiVersion: "crd.projectcalico.org/v1", kind: "IPAMConfig", read: "IPAMConfig" },
  { apiVersion: "crd.projectcalico.org/v1", kind: "Profile", read: "a note: write apiVersion: projectcalico.org/v3" },
  { apiVersion: "projectcalico.org/v4", kind: "Tier", read: "a note: write apiVersion: projectcalico.org/v3" },
  { apiVersion: "projectcalico.org/v3", kind: "Nonsense", read: "nothing" },
  { apiVersion: "apps/v1", kind: "Deployment", read: "nothing" },
];
for (const { apiVersion, kind, read } of kindsByType) {
  test(`${apiVersion} ${kind} is read as ${read}`, () => {
    const text = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: p}\n`;
    const { objects, notes, errors } = readManifests(text);
    equal(errors.length, 0);
    const noted = notes.map(({ says }) => `a note: ${says.replace(/^.*; /, "")}`);
    deepEqual([...objects.map((object) => object.kind), ...noted], read === "nothing" ? [] : [read]);
  });
}

function bomb(): string {
  const levels = Array.from(
    { length: 12 },
    (_, i) => `a${i}: &a${i} [${i === 0 ? "x" : `${`*a${i - 1}, `.repeat(9)}*a${i - 1}`}]`,
  );
  return `${levels.join("\n")}\n`;
}

import { equal, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import { readV3 } from "../../../calico/resources/index.ts";
import { readOutputFormat } from "./output-format.ts";
import { type PrintOptions, print, type Result } from "./print.ts";

const pool = (name: string, spec: object) => readV3("IPPool", { metadata: { name, labels: { zone: "a" } }, spec });
const pools: Result = {
  is: "list",
  kind: "IPPool",
  resourceVersion: "7",
  items: [pool("a", { cidr: "10.1.0.0/16" }), pool("long-name", { cidr: "10.2.0.0/16", disabled: true })],
};
const policy: Result = {
  is: "object",
  object: readV3("NetworkPolicy", {
    metadata: { name: "web", namespace: "prod" },
    spec: { order: 20000000.5, selector: "role == 'a: b'" },
  }),
};
const nodes: Result = {
  is: "list",
  kind: "Node",
  resourceVersion: "",
  items: [
    readV3("Node", { metadata: { name: "n1" }, spec: { bgp: { ipv4Address: "10.0.0.1/24" } } }),
    readV3("Node", { metadata: { name: "n2" }, spec: {} }),
  ],
};
const none: Result = { is: "list", kind: "IPPool", resourceVersion: "", items: [] };

async function printed(
  results: readonly Result[],
  format: string,
  options: Partial<PrintOptions> = {},
): Promise<string> {
  const parts: string[] = [];
  const console = { out: (text: string) => void parts.push(text) };
  const defaults = { showsNamespace: false, defaultAsNumber: () => Promise.reject(new Error("nobody asked")) };
  await print(results, readOutputFormat(format), { ...defaults, ...options, console });
  return parts.join("");
}

const cases: {
  name: string;
  results: readonly Result[];
  format: string;
  options?: Partial<PrintOptions>;
  text: string;
}[] = [
  {
    name: "a table pads its cells, the last one too, and ends with an empty line",
    results: [pools],
    format: "ps",
    text: "NAME        CIDR          SELECTOR   \na           10.1.0.0/16              \nlong-name   10.2.0.0/16              \n\n",
  },
  {
    name: "a list without objects is its headings",
    results: [none],
    format: "ps",
    text: "NAME   CIDR   SELECTOR   \n\n",
  },
  {
    name: "several results are several tables",
    results: [none, policy],
    format: "ps",
    text: "NAME   CIDR   SELECTOR   \n\nNAME   TIER   \nweb           \n\n",
  },
  {
    name: "a namespaced kind begins with the namespace when asked; what breaks YAML is just printed",
    results: [policy],
    format: "wide",
    options: { showsNamespace: true },
    text: "NAMESPACE   NAME   TIER   ORDER            SELECTOR         \nprod        web           2.00000005e+07   role == 'a: b'   \n\n",
  },
  {
    name: "columns can be named, and then no namespace is put in front",
    results: [policy],
    format: "custom-columns=NAME,NAMESPACE",
    options: { showsNamespace: true },
    text: "NAME   NAMESPACE   \nweb    prod        \n\n",
  },
  {
    name: "the AS number of the cluster is asked for where a node shows it",
    results: [nodes],
    format: "wide",
    options: { defaultAsNumber: async () => 64512 },
    text: "NAME   ASN       IPV4          IPV6   \nn1     (64512)   10.0.0.1/24          \nn2                                    \n\n",
  },
  {
    name: "an AS number that cannot be read is unknown",
    results: [nodes],
    format: "custom-columns=ASN",
    options: { defaultAsNumber: async () => undefined },
    text: "ASN         \n(unknown)   \n            \n\n",
  },
  { name: "names, for programs", results: [pools], format: "name", text: "ippool/a\nippool/long-name\n" },
  {
    name: "names with their namespaces",
    results: [policy],
    format: "name",
    options: { showsNamespace: true },
    text: "networkpolicy/prod/web\n",
  },
  { name: "nothing found is null in YAML", results: [], format: "yaml", text: "null\n" },
  { name: "nothing found is null in JSON, without a new line", results: [], format: "json", text: "null" },
  {
    name: "one object is YAML with sorted keys",
    results: [policy],
    format: "yml",
    text: `apiVersion: projectcalico.org/v3\nkind: NetworkPolicy\nmetadata:\n  name: web\n  namespace: prod\nspec:\n  order: 2.00000005e+07\n  selector: 'role == ''a: b'''\n`,
  },
  {
    name: "a list without objects has items",
    results: [none],
    format: "yaml",
    text: "apiVersion: projectcalico.org/v3\nitems: []\nkind: IPPoolList\nmetadata: {}\n",
  },
  {
    name: "several results are an array in JSON, in Go's order and with its escapes",
    results: [
      {
        is: "object",
        object: readV3("GlobalNetworkPolicy", { metadata: { name: "g" }, spec: { selector: "a && b" } }),
      },
      none,
    ],
    format: "json",
    text: `[
  {
    "kind": "GlobalNetworkPolicy",
    "apiVersion": "projectcalico.org/v3",
    "metadata": {
      "name": "g"
    },
    "spec": {
      "selector": "a \\u0026\\u0026 b"
    }
  },
  {
    "kind": "IPPoolList",
    "apiVersion": "projectcalico.org/v3",
    "metadata": {},
    "items": []
  }
]`,
  },
  {
    name: "a template sees Go's fields",
    results: [pools],
    format: "go-template={{range .}}{{range .Items}}{{.ObjectMeta.Name}} {{.Spec.CIDR}}\n{{end}}{{end}}",
    text: "a 10.1.0.0/16\nlong-name 10.2.0.0/16\n",
  },
];
for (const { name, results, format, options, text } of cases) {
  test(`output: ${name}`, async () => equal(await printed(results, format, options), text));
}

const formats: { text: string; says: string }[] = [
  { text: "table", says: "unrecognized output format 'table'" },
  { text: "jsonpath={.a}", says: "unrecognized output format 'jsonpath={.a}'" },
  { text: "custom-columns", says: "need to specify at least one column" },
  { text: "custom-columns=", says: "need to specify at least one column" },
  { text: "go-template", says: "need to specify a template" },
  { text: "go-template-file=", says: "need to specify a template file" },
];
for (const { text, says } of formats) {
  test(`-o ${text} is refused`, () => throws(() => readOutputFormat(text), { name: "CtlError", message: says }));
}

test("an unknown heading names those that there are", async () => {
  await rejects(printed([pools], "custom-columns=NAME,WHAT"), {
    message:
      "unknown heading WHAT, valid values are: NAME, CIDR, SELECTOR, NAT, IPIPMODE, VXLANMODE, DISABLED, DISABLEBGPEXPORT, ASSIGNMENTMODE",
  });
});

test("a template's file that is not there", async () => {
  await rejects(printed([pools], "go-template-file=none.tpl"), {
    message: "open none.tpl: no such file or directory",
  });
});

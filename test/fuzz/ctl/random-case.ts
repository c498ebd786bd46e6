// Random runs of calicoctl: some objects are written, then commands with random words, flags and input follow. The shape is that of
// a recorded case, so that what records and compares those does it for these.
import fc from "fast-check";
import { stringify } from "yaml";
import type { JsonRecord } from "../../../src/base/lib/index.ts";
import { kindInfo } from "../../../src/calico/kinds/index.ts";
import type { Step } from "../../conformance/ctl/case.ts";
import { type CtlKind, ctlKinds, type Document, documentOf, nameOf } from "./documents.ts";

export type RandomCase = {
  readonly steps: readonly Step[];
  readonly initial: readonly JsonRecord[];
  readonly files: { readonly [name: string]: string };
};

type Draft = { readonly step: Step; readonly files: { readonly [name: string]: string } };

const kind: fc.Arbitrary<CtlKind> = fc.constantFrom(...ctlKinds);

function word(of: CtlKind): fc.Arbitrary<string> {
  const names = [of.toLowerCase(), ...(kindInfo(of).names ?? [])];
  return fc.tuple(fc.constantFrom(...names), fc.nat(9)).map(([name, how]) => (how === 0 ? name.toUpperCase() : name));
}

const namespace = fc.constantFrom<readonly string[]>(
  [],
  [],
  [],
  ["-n", "shop"],
  ["-n", "default"],
  ["-n", "nowhere"],
  ["-A"],
  ["-a"],
);
const format = fc.constantFrom<readonly string[]>(
  [],
  [],
  ["-o", "wide"],
  ["-o", "wide"],
  ["-oyaml"],
  ["-o", "yaml"],
  ["--output=json"],
  ["-o", "custom-columns=NAME"],
  ["-o", "custom-columns=NAME,NAMESPACE"],
  ["-o", "custom-columns=NODE,BOGUS"],
  ["-o", "go-template={{range .}}{{.Kind}}{{end}}"],
  ["-o", "bogus"],
);
const rarely = (flag: string) => fc.constantFrom<readonly string[]>([], [], [], [flag]);

function textOf(documents: readonly Document[], form: number): string {
  if (form === 0) return documents.map((document) => JSON.stringify(document, null, 1)).join("\n---\n");
  if (form === 1 && documents.length > 1) return stringify(documents);
  return documents.map((document) => stringify(document)).join("---\n");
}

/** A file of some documents, of one kind or of several. */
function input(
  oddness: number,
): fc.Arbitrary<{ text: string; kinds: readonly CtlKind[]; documents: readonly Document[] }> {
  // Half of them are nothing odd: else hardly a file would be good as a whole.
  const one = kind.chain((of) =>
    fc.oneof(documentOf(of, 0), documentOf(of, oddness)).map((document) => ({ of, document })),
  );
  return fc.tuple(fc.array(one, { minLength: 1, maxLength: 3, size: "small" }), fc.nat(5)).map(([drawn, form]) => ({
    text: textOf(
      drawn.map(({ document }) => document),
      form,
    ),
    documents: drawn.map(({ document }) => document),
    kinds: drawn.map(({ of }) => of),
  }));
}

const fromFile = (verb: string, flags: readonly string[], text: string, name: string): Draft => ({
  step: { argv: [verb, "-f", name, ...flags] },
  files: { [name]: text },
});

function write(name: string, oddness: number): fc.Arbitrary<Draft> {
  const verb = fc.constantFrom("apply", "apply", "create", "replace", "validate");
  return fc
    .tuple(verb, input(oddness), rarely("--skip-exists"), namespace)
    .map(([given, { text }, skip, within]) =>
      fromFile(given, [...(given === "create" ? skip : []), ...(within[0] === "-n" ? within : [])], text, name),
    );
}

function byFile(name: string, oddness: number): fc.Arbitrary<Draft> {
  const verb = fc.constantFrom("get", "delete");
  return fc
    .tuple(verb, input(oddness), rarely("-s"), format)
    .map(([given, { text }, skip, output]) => fromFile(given, given === "delete" ? skip : output, text, name));
}

const get: fc.Arbitrary<Draft> = kind.chain((of) =>
  fc
    .tuple(word(of), fc.array(nameOf(of), { maxLength: 2 }), namespace, format, rarely("--export"))
    .map(([given, names, within, output, exported]) => ({
      step: { argv: ["get", given, ...names, ...within, ...output, ...exported] },
      files: {},
    })),
);

const remove: fc.Arbitrary<Draft> = kind.chain((of) =>
  fc
    .tuple(word(of), fc.array(nameOf(of), { minLength: 1, maxLength: 2 }), namespace, rarely("--skip-not-exists"))
    .map(([given, names, within, skip]) => ({
      step: { argv: ["delete", given, ...names, ...within.filter((each) => !/^-[aA]$/.test(each)), ...skip] },
      files: {},
    })),
);

function patch(oddness: number): fc.Arbitrary<Draft> {
  return kind.chain((of) =>
    fc
      .tuple(
        word(of),
        nameOf(of),
        documentOf(of, oddness),
        namespace,
        fc.constantFrom<readonly string[]>([], ["-t", "merge"], ["--type", "strategic"]),
      )
      .map(([given, name, document, within, type]) => {
        const { spec, metadata } = document;
        const { labels } = metadata as { labels?: unknown }; // as documentOf makes it
        const text = JSON.stringify({ spec, ...(labels === undefined ? {} : { metadata: { labels } }) });
        const flags = within.filter((each) => !/^-[aA]$/.test(each));
        return { step: { argv: ["patch", given, name, "-p", text, ...flags, ...type] }, files: {} };
      }),
  );
}

const label: fc.Arbitrary<Draft> = kind.chain((of) =>
  fc
    .tuple(
      word(of),
      nameOf(of),
      fc.constantFrom(
        "app=web",
        "app=db",
        "app",
        "x=",
        "a b=c",
        "app=no good",
        "projectcalico.org/tier=z",
        "=x",
        "a=b=c",
      ),
      fc.constantFrom<readonly string[]>([], [], ["--overwrite"], ["--remove"], ["--overwrite", "--remove"]),
      namespace,
    )
    .map(([given, name, pair, flags, within]) => ({
      step: { argv: ["label", given, name, pair, ...flags, ...within.filter((each) => !/^-[aA]$/.test(each))] },
      files: {},
    })),
);

const other: fc.Arbitrary<Draft> = fc
  .constantFrom(
    "ipam show",
    "ipam show --show-blocks",
    "ipam show --show-configuration",
    "ipam show --show-borrowed",
    "ipam show --ip=10.1.0.1",
    "ipam show --ip=10.1.0.9",
    "ipam show --ip=bogus",
    "ipam release --ip=10.1.0.1",
    "ipam release --ip=10.1.0.70",
    "ipam configure --strictaffinity=true",
    "ipam configure --strictaffinity=false",
    "ipam configure --strictaffinity=maybe",
    "ipam configure --max-blocks-per-host=3",
    "ipam configure --max-blocks-per-host=-3",
    "ipam configure --strictaffinity=true --max-blocks-per-host=7",
    "ipam configure --ip-cooldown-seconds=5",
    "ipam configure --kubevirt-ip-persistence=Disabled",
    "ipam configure",
    "datastore migrate lock",
    "datastore migrate unlock",
    "get",
    "get nodes n1 -o",
    "get -f none.yaml",
    "get nodes --bogus",
    "get node n1 n2 -o yaml",
    "get bogus",
    "get nodes -l bogus",
    "patch node n1",
    "label node n1",
    "delete node n1",
    "version",
    "version --client",
    "apply -f none.yaml",
    "ipam split 3 --name a",
    "ipam split 2 --cidr 10.1.0.0/16",
  )
  .map((line) => ({ step: { argv: line.split(" ") }, files: {} }));

function draft(at: number, oddness: number): fc.Arbitrary<Draft> {
  const name = `f${at}.yaml`;
  return fc.oneof(
    { weight: 8, arbitrary: write(name, oddness) },
    { weight: 7, arbitrary: get },
    { weight: 2, arbitrary: byFile(name, oddness) },
    { weight: 3, arbitrary: remove },
    { weight: 4, arbitrary: patch(oddness) },
    { weight: 3, arbitrary: label },
    { weight: 3, arbitrary: other },
  );
}

export type CaseOptions = { readonly on: "kubernetes" | "etcdv3"; readonly oddness: number };

export function randomCase({ on, oddness }: CaseOptions): fc.Arbitrary<RandomCase> {
  // First something that is there, valid most of the time.
  const first = input(0).map(({ text }) => fromFile("apply", [], text, "first.yaml"));
  const rest = fc
    .integer({ min: 2, max: 7 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => draft(at, oddness))));
  const last: Draft = { step: { argv: ["get", "ippools", "-o", "wide"] }, files: {} };
  return fc.tuple(first, rest).map(([begin, drafts]) => {
    const all = [begin, ...drafts, last];
    return {
      steps: all.map(({ step }) => step),
      initial: on === "kubernetes" ? kubernetesObjects : [],
      files: Object.assign({}, ...all.map(({ files }) => files)),
    };
  });
}

const kubernetesObjects: readonly JsonRecord[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { team: "a" } } },
  {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1", labels: { zone: "z" }, annotations: { "projectcalico.org/IPv4Address": "10.5.0.1/24" } },
  },
  { apiVersion: "v1", kind: "Node", metadata: { name: "n2" } },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", annotations: { "cni.projectcalico.org/podIP": "10.1.0.1/32" } },
    spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
  },
  {
    apiVersion: "crd.projectcalico.org/v1",
    kind: "IPAMBlock",
    metadata: { name: "10-1-0-0-26" },
    spec: {
      cidr: "10.1.0.0/26",
      affinity: "host:n1",
      strictAffinity: false,
      deleted: false,
      allocations: Array.from({ length: 64 }, (_, at) => (at === 1 ? 0 : null)),
      unallocated: Array.from({ length: 63 }, (_, at) => (at === 0 ? 0 : at + 1)),
      attributes: [{ handle_id: "h", secondary: { node: "n1", namespace: "default", pod: "web" } }],
    },
  },
  {
    apiVersion: "crd.projectcalico.org/v1",
    kind: "IPAMHandle",
    metadata: { name: "h" },
    spec: { handleID: "h", block: { "10.1.0.0/26": 1 }, deleted: false },
  },
];

import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { CtlError } from "../console.ts";
import { InputError, type InputObject, type InputOptions, readInput } from "./read-input.ts";

let root = "";
before(async () => {
  root = await mkdtemp(join(tmpdir(), "cattail-input-"));
});
after(() => rm(root, { recursive: true }));

const set = (name: string, more = "") =>
  `apiVersion: projectcalico.org/v3\nkind: GlobalNetworkSet\nmetadata: {name: ${name}}\n${more}`;

async function write(files: { readonly [path: string]: string }): Promise<string> {
  const folder = await mkdtemp(join(root, "case-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

type Asked = Partial<InputOptions> & { isTerminal?: boolean; stdin?: string };

async function read(path: string, asked: Asked = {}): Promise<readonly InputObject[]> {
  const { isTerminal = false, stdin = "", isRecursive = false, skipsEmpty = false } = asked;
  return await readInput({ filename: path, isRecursive, skipsEmpty }, { isTerminal, readStdin: async () => stdin });
}

async function fromStdin(stdin: string, asked: Asked = {}): Promise<readonly InputObject[]> {
  return await read("-", { ...asked, stdin });
}

const named = (objects: readonly InputObject[]) => objects.map(({ kind, object }) => `${kind}/${object.metadata.name}`);

const forms: { name: string; text: string; found: string[] }[] = [
  { name: "one object", text: set("a"), found: ["a"] },
  {
    name: "several documents, with a leading separator and words behind one",
    text: `---\n${set("a")}--- # next\n${set("b")}`,
    found: ["a", "b"],
  },
  { name: "a separator at the very end", text: `${set("a")}---`, found: ["a"] },
  {
    name: "an array",
    text: `[{apiVersion: projectcalico.org/v3, kind: GlobalNetworkSet, metadata: {name: a}}]`,
    found: ["a"],
  },
  {
    name: "a list of a kind",
    text: `apiVersion: projectcalico.org/v3\nkind: GlobalNetworkSetList\nmetadata: {resourceVersion: "5"}\nitems:\n- {apiVersion: projectcalico.org/v3, kind: GlobalNetworkSet, metadata: {name: a}}\n`,
    found: ["a"],
  },
  {
    name: "JSON",
    text: '{"apiVersion":"projectcalico.org/v3","kind":"GlobalNetworkSet","metadata":{"name":"a"}}',
    found: ["a"],
  },
  {
    name: "lines that end with CR LF",
    text: `${set("a")}---\n${set("b")}`.replaceAll("\n", "\r\n"),
    found: ["a", "b"],
  },
  { name: "names of fields in another letter case", text: set("a", "SPEC: {Nets: [10.0.0.0/8]}"), found: ["a"] },
];
for (const { name, text, found } of forms) {
  test(`input is read: ${name}`, async () => {
    deepEqual(
      named(await fromStdin(text)),
      found.map((one) => `GlobalNetworkSet/${one}`),
    );
  });
}

test("scalars are made to fit their field: a name `n` is false, a label ~ is empty", async () => {
  const [one] = await fromStdin(
    `kind: GlobalNetworkSet\napiVersion: projectcalico.org/v3\nmetadata: {name: n, labels: {a: ~, b: 0x1F, c: 0.1, d: 1.50}}`,
  );
  deepEqual(one?.object.metadata, { name: "false", labels: { a: "", b: "31", c: "0.1", d: "1.5" } });
});

test("a field in another letter case is the field", async () => {
  const [one] = await fromStdin(set("a", "Spec: {NETS: [10.0.0.0/8]}"));
  deepEqual(one?.object.spec, { nets: ["10.0.0.0/8"] });
});

const refusals: { name: string; text: string; says: string; inTerminal?: string }[] = [
  {
    name: "a document of comments",
    text: "# nothing\n",
    says: "failed to execute command: unknown resource type () and/or version ()",
    inTerminal: " (standard input:1)",
  },
  {
    name: "an unknown field, in the second document",
    text: `${set("a")}---\n${set("b", "spec:\n  netz: []\n")}`,
    says: "field in document is not recognized or is in the wrong location: netz",
    inTerminal: " (standard input:9, spec.netz; did you mean nets?)",
  },
  {
    name: "an unknown field of the metadata",
    text: set("a").replace("name: a", "nam: a"),
    says: "field in document is not recognized or is in the wrong location: nam",
    inTerminal: " (standard input:3, metadata.nam; did you mean name?)",
  },
  {
    name: "an unknown kind",
    text: set("a").replace("GlobalNetworkSet", "GlobalNetworkSets"),
    says: "failed to execute command: unknown resource type (GlobalNetworkSets) and/or version (projectcalico.org/v3)",
    inTerminal: " (standard input:2, kind; did you mean GlobalNetworkSet?)",
  },
  {
    name: "an unknown version",
    text: set("a").replace("projectcalico.org/v3", "crd.projectcalico.org/v1"),
    says: "failed to execute command: unknown resource type (GlobalNetworkSet) and/or version (crd.projectcalico.org/v1)",
    inTerminal: " (standard input:1, apiVersion; did you mean projectcalico.org/v3?)",
  },
  {
    name: "a value of the wrong type",
    text: "kind: IPPool\napiVersion: projectcalico.org/v3\nspec:\n  cidr: 10.0.0.0/8\n  natOutgoing: 5\n",
    says: "failed to execute command: spec.natOutgoing: expected boolean, received number (standard input:5)",
  },
  {
    name: "a key twice",
    text: set("a", "kind: IPPool\n"),
    says: 'failed to execute command: error converting YAML to JSON: yaml: line 4: key "kind" already set in map (standard input:4)',
  },
  {
    name: "no kind",
    text: "metadata: {name: a}",
    says: 'failed to execute command: the object has no kind, such as "kind: IPPool" (standard input:1)',
  },
  {
    name: "text",
    text: "just text",
    says: "failed to execute command: expected an object or a list of objects, found a string (standard input:1)",
  },
  {
    name: "two kinds in one list",
    text: "kind: IPPoolList\napiVersion: projectcalico.org/v3\nitems:\n- kind: Tier\n  apiVersion: projectcalico.org/v3\n",
    says: "failed to execute command: items[0]: kind is Tier, but all items of a IPPoolList must be of kind IPPool (standard input:4)",
  },
  {
    name: "items without a kind",
    text: "kind: IPPoolList\napiVersion: projectcalico.org/v3\nitems:\n- metadata: {name: a}\n",
    says: 'failed to execute command: the object has no kind, such as "kind: IPPool" (standard input:4)',
  },
  { name: "nothing", text: "", says: "no resources specified in file -" },
];
for (const { name, text, says, inTerminal = "" } of refusals) {
  test(`input is refused: ${name}`, async () => {
    await rejects(fromStdin(text), { name: "InputError", message: says });
    // Programs compare the original's words; a person is told where.
    await rejects(fromStdin(text, { isTerminal: true }), { message: says + inTerminal });
  });
}

test("a folder: manifests by name, below it only with -R, other files never", async () => {
  const folder = await write({
    "b.yml": set("b"),
    "a.YAML": set("a"),
    "d.json": '{"apiVersion":"projectcalico.org/v3","kind":"GlobalNetworkSet","metadata":{"name":"d"}}',
    "c/c.yaml": set("c"),
    "notes.txt": "hello",
  });
  await symlink(join(folder, "b.yml"), join(folder, "z.yaml"));
  deepEqual(named(await read(folder)).join(), "a,b,d,b".replaceAll(/\w/g, "GlobalNetworkSet/$&"));
  deepEqual(
    named(await read(folder, { isRecursive: true })).join(),
    "a,b,c,d,b".replaceAll(/\w/g, "GlobalNetworkSet/$&"),
  );
});

test("a folder with one bad file: its name, the line and the field are said, and nothing is read", async () => {
  const folder = await write({ "a.yaml": set("a"), "b.yaml": set("b", "spec:\n  bogus: 1\n") });
  await rejects(read(folder), {
    message: `field in document is not recognized or is in the wrong location: bogus (${folder}/b.yaml:5, spec.bogus)`,
  });
});

test("where a script is told the original's words alone, the place is advice for whoever asks with -l warn", async () => {
  const { adviceOf } = await import("../command-line/fail.ts");
  await rejects(fromStdin(set("a", "spec:\n  netz: []\n")), (error) => {
    deepEqual(
      adviceOf(error).map(({ says }) => says),
      ["See standard input:5, spec.netz; did you mean nets?"],
    );
    return true;
  });
});

test("files that cannot be used", async () => {
  const folder = await write({ "empty.yaml": "", "x/readme": "", "latin.yaml": "" });
  await writeFile(join(folder, "latin.yaml"), Buffer.from([0x61, 0xe9]));
  await rejects(read(join(folder, "none.yaml")), {
    message: `failed to execute command: open ${folder}/none.yaml: no such file or directory`,
  });
  await rejects(read(join(folder, "empty.yaml")), (error) => {
    return error instanceof InputError && error.isEmpty && error.message.startsWith("no resources specified in file ");
  });
  await rejects(read(join(folder, "x")), { isEmpty: true, message: `no resources specified in directory ${folder}/x` });
  await rejects(read(join(folder, "latin.yaml")), { message: /invalid UTF-8/ });
  deepEqual(await read(join(folder, "x"), { skipsEmpty: true }), []);
  deepEqual(await read(join(folder, "empty.yaml"), { skipsEmpty: true }), []);
});

test("an object knows where it stands, and where its fields do", async () => {
  const [, second] = await fromStdin(`${set("a")}---\n${set("b", "spec:\n  nets:\n  - 10.0.0.0/8\n")}`);
  equal(await second?.where(), "standard input:5");
  equal(await second?.where("spec.nets[0]"), "standard input:10");
});

test("any text is read, or refused in words", async () => {
  const piece = fc.constantFrom(
    "kind: IPPool",
    "apiVersion: projectcalico.org/v3",
    "spec: {cidr: x}",
    "---",
    "- a",
    "  b: [",
    "metadata:",
    "{",
    "\t",
    "items: []",
    "kind: IPPoolList",
    "__proto__: {}",
    "spec:\n  __proto__: 1",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.array(piece).map((lines) => lines.join("\n")),
        fc.string(),
      ),
      async (text) => {
        try {
          await fromStdin(text);
        } catch (error) {
          equal(error instanceof CtlError, true, String(error));
        }
      },
    ),
    { numRuns: 200 },
  );
});

// `cattail explain` as a process: on a folder of manifests, on one file, through a server, and what it says to bad questions.
import { deepEqual, equal, match } from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cattail } from "../kit/cattail-process.ts";
import { PolicyWorld } from "../kit/policy-world.ts";
import { serve } from "../kit/serving.ts";

const folder = "test/vectors/explain";
const explain = (...words: readonly string[]) => cattail(["explain", ...words]);
const onFolder = (...words: readonly string[]) => explain(...words, "-f", folder);

test("a verdict names the rule that decides, and the file that it stands in", async () => {
  const { code, stdout } = await onFolder("shop/web", "shop/db", "--port", "5432");
  equal(code, 0);
  match(stdout, /^shop\/web -> shop\/db, tcp 5432: ALLOWED\n/);
  match(
    stdout,
    /NetworkPolicy \(Kubernetes\) shop\/db: ingress rule 1 \(spec\.ingress\[0\]\) holds: allow tcp from app == 'web' to port 5432 or 9187 {2}\[shop\.yaml\]/,
  );
});

test("a denial says which policies leave it open, and which rule would allow it", async () => {
  const { stdout } = await onFolder("shop/db", "shop/web", "-p", "80");
  match(stdout, /: DENIED\n/);
  match(stdout, /the end of tier default denies what its policies leave open/);
  match(stdout, /podSelector: \{matchLabels: \{app: db\}\}\n {6}ports: \[\{protocol: TCP, port: 80\}\]/);
});

test("without a port, all ports are answered, those with one answer together", async () => {
  const { stdout } = await onFolder("shop/web", "shop/db");
  match(stdout, /tcp: ALLOWED on port 5432 and 9187, otherwise DENIED\n/);
  match(stdout, /\nevery other port: DENIED\n/);
});

test("staged policies change nothing, and what they would change is said", async () => {
  const { stdout } = await onFolder("shop/web", "shop/db", "-p", "9187");
  match(stdout, /: ALLOWED\n/);
  match(stdout, /\nWith the staged policies enforced: DENIED\n/);
});

test("a pod that does not exist yet is asked about by its labels", async () => {
  const { stdout } = await onFolder("shop/app=web,x=y", "shop/db", "-p", "5432", "-o", "json");
  const { verdict, source } = JSON.parse(stdout);
  deepEqual([verdict, source.name], ["allow", "a pod with app=web, x=y in shop"]);
  equal(JSON.parse((await onFolder("default/app=web", "shop/db", "-p", "5432", "-o", "json")).stdout).verdict, "deny");
});

test("the matrix shows who may talk to whom", async () => {
  const { stdout } = await onFolder("--matrix", "-n", "shop", "-o", "json");
  deepEqual(JSON.parse(stdout).cells, [
    ["", "none"],
    ["5432,9187", ""],
  ]);
});

test("a matrix of a namespace without pods says where there are some", async () => {
  const { stdout } = await onFolder("--matrix");
  equal(
    stdout,
    "No pod with an IPv4 address is known there. Pods are in shop: ask with -n NAMESPACE, or -A for all.\n",
  );
});

test("expected verdicts from a file: exit code 0 when all are met, 1 when one is not", async () => {
  const place = mkdtempSync(join(tmpdir(), "explain-"));
  try {
    const file = join(place, "flows.yaml");
    const met =
      "- {from: shop/web, to: shop/db, port: 5432, expect: allow}\n- {from: web, to: shop/app=none, expect: deny}\n";
    writeFileSync(file, met);
    const good = await onFolder("--check", file, "-n", "shop");
    deepEqual([good.code, good.stdout.trim().split("\n").at(-1)], [0, "2 as expected, 0 not"]);
    writeFileSync(file, `${met}- {from: shop/db, to: shop/web, port: 80, expect: allow}\n`);
    const bad = await onFolder("--check", file, "-n", "shop");
    equal(bad.code, 1);
    match(bad.stdout, /FAIL shop\/db -> shop\/web, tcp 80: expected allow/);
    // One that cannot be asked about fails, and the others are looked at all the same.
    writeFileSync(file, `- {from: shop/web, to: shop/gone, expect: deny}\n${met}`);
    const unknown = await onFolder("--check", file, "-n", "shop");
    equal(unknown.code, 1);
    match(unknown.stdout, /FAIL shop\/web -> shop\/gone, tcp: expected deny, and there is no pod shop\/gone/);
    match(unknown.stdout, /2 as expected, 1 not/);
    for (const [flow, says] of [
      ["{from: shop/db, too: shop/web, expect: allow}", /flow 1 has a field "too"/],
      ["{from: shop/db, expect: allow}", /flow 1 has no to that is text/],
      ["{from: a, to: b, expect: ALLOW}", /flow 1 has expect "ALLOW", which must be allow or deny/],
      ['{from: a, to: b, expect: allow, port: "80"}', /flow 1 has port "80", which must be a number from 1 to 65535/],
    ] as const) {
      writeFileSync(file, `- ${flow}\n`);
      match((await onFolder("--check", file)).stderr, says);
    }
  } finally {
    rmSync(place, { recursive: true });
  }
});

test("a pod always reaches itself, whatever policies say", async () => {
  const { stdout } = await onFolder("shop/db", "shop/db", "-p", "1");
  match(stdout, /ALLOWED\n[\s\S]*its packets do not leave it/);
});

test("a policy whose manifest names no directions has those that are filled in when it is written", async () => {
  const place = mkdtempSync(join(tmpdir(), "explain-"));
  try {
    cpSync(folder, place, { recursive: true });
    const spec = { selector: "app == 'web'", ingress: [{ action: "Deny" }] };
    const policy = { apiVersion: "projectcalico.org/v3", kind: "GlobalNetworkPolicy", metadata: { name: "x" }, spec };
    writeFileSync(join(place, "x.json"), JSON.stringify(policy));
    match((await explain("shop/web", "1.2.3.4", "-p", "80", "-f", place)).stdout, /: ALLOWED\n/);
    match((await explain("1.2.3.4", "shop/web", "-p", "80", "-f", place)).stdout, /: DENIED\n/);
  } finally {
    rmSync(place, { recursive: true });
  }
});

test("rules of Kubernetes' policies are counted as they were written", async () => {
  const place = mkdtempSync(join(tmpdir(), "explain-"));
  try {
    cpSync(folder, place, { recursive: true });
    const pods = (app: string) => ({ podSelector: { matchLabels: { app } } });
    const ingress = [
      { from: [pods("x"), pods("y")], ports: [{ port: 1 }, { port: 1, protocol: "UDP" }] },
      { from: [pods("z"), pods("web")], ports: [{ port: 7 }, { port: 7, protocol: "UDP" }] },
    ];
    const spec = { podSelector: { matchLabels: { app: "db" } }, policyTypes: ["Ingress"], ingress };
    const kind = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" };
    writeFileSync(join(place, "x.json"), JSON.stringify({ ...kind, metadata: { name: "x", namespace: "shop" }, spec }));
    const asked = ["shop/web", "shop/db", "-p", "7", "-f", place];
    const { stdout } = await explain(...asked);
    match(stdout, /shop\/x: ingress rule 2 \(spec\.ingress\[1\]\.from\[1\]\) holds: .* {2}\[x\.json\]/);
    match(
      stdout,
      /take it out of ingress rule 2 \(spec\.ingress\[1\]\.from\[1\]\) of NetworkPolicy \(Kubernetes\) shop\/x/,
    );
    const { decidedBy } = JSON.parse((await explain(...asked, "-o", "json")).stdout).stages[1];
    deepEqual([decidedBy.rule, decidedBy.written], [6, { rule: 2, field: "spec.ingress[1].from[1]" }]);
  } finally {
    rmSync(place, { recursive: true });
  }
});

test("the folder is left as it was, and one file is as good as a folder", async () => {
  const place = mkdtempSync(join(tmpdir(), "explain-"));
  try {
    cpSync(folder, place, { recursive: true });
    equal((await explain("shop/web", "shop/db", "-p", "1", "-f", join(place, "shop.yaml"))).code, 0);
    equal((await explain("shop/web", "shop/db", "-p", "1", "-f", place)).code, 0);
    deepEqual(readdirSync(place), ["shop.yaml"]);
  } finally {
    rmSync(place, { recursive: true });
  }
});

test("through a server: the same answer, from what nodes are sent", async () => {
  const world = new PolicyWorld();
  await using server = await serve({});
  server.set(Object.fromEntries(world.said));
  server.status(2);
  const { stdout, code } = await explain(
    "blue/client",
    "red/web",
    "-p",
    "8080",
    "--server",
    `127.0.0.1:${server.address.port}`,
    "--plaintext",
  );
  equal(code, 0);
  match(stdout, /^blue\/client -> red\/web, tcp 8080: ALLOWED\n/);
});

test("a datastore that cannot be reached is said in seconds, with the reason", async () => {
  const { code, stderr } = await explain("shop/web", "shop/db", "--etcd", "http://127.0.0.1:1");
  equal(code, 1);
  match(stderr, /the datastore cannot be read: .*ECONNREFUSED.*\.\nCheck that its server runs.*\(EXPLAIN_UNREADABLE\)/);
});

const notGood: readonly { name: string; text: string; says: RegExp }[] = [
  {
    name: "a policy that is void on every node",
    text: "apiVersion: projectcalico.org/v3\nkind: GlobalNetworkPolicy\nmetadata: {name: x}\nspec: {selector: 'app =='}\n",
    says: /note: GlobalNetworkPolicy\/x: spec\.selector must be a selector: .*; nodes take it as not there, and so does this answer\n/,
  },
  {
    name: "aliases that would grow without end",
    text: `a: &a [1,1,1,1,1,1,1,1,1]\n${[..."bcdefg"].map((to, i) => `${to}: &${to} [${Array(9).fill(`*${"abcdef"[i]}`)}]\n`).join("")}`,
    says: /note: .*bad\.yaml:1: Excessive alias count .*; it is not looked at\n/,
  },
];
for (const { name, text, says } of notGood)
  test(`what the answer leaves out is said: ${name}`, async () => {
    const place = mkdtempSync(join(tmpdir(), "explain-"));
    try {
      cpSync(folder, place, { recursive: true });
      writeFileSync(join(place, "bad.yaml"), text);
      const { code, stderr } = await explain("shop/web", "shop/db", "-p", "5432", "-f", place);
      equal(code, 0);
      match(stderr, says);
    } finally {
      rmSync(place, { recursive: true });
    }
  });

test("a terminal does not obey what stands in a manifest", async () => {
  const place = mkdtempSync(join(tmpdir(), "explain-"));
  try {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "default" } };
    const given = { ...pod, spec: { nodeName: "n\u001b[2J" }, status: { podIP: "10.0.0.1" } };
    writeFileSync(join(place, "pod.json"), JSON.stringify(given));
    writeFileSync(join(place, "bad\u001b[8m.yaml"), "a: [");
    const { stdout, stderr } = await explain("a", "1.2.3.4", "-f", place);
    match(stdout, /\(on n\\u001b\[2J\): allowed/);
    match(stderr, /^note: bad\\u001b\[8m\.yaml:1: /);
    equal((stdout + stderr).includes("\u001b"), false);
  } finally {
    rmSync(place, { recursive: true });
  }
});

test("what only nodes cannot understand is named, too", async () => {
  const place = mkdtempSync(join(tmpdir(), "explain-"));
  try {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, status: { podIP: "10.0.0.1" } };
    const spec = { selector: "all()", types: ["Ingress"], ingress: [{ action: "Mirror" }] };
    const policy = {
      apiVersion: "crd.projectcalico.org/v1",
      kind: "GlobalNetworkPolicy",
      metadata: { name: "newer" },
      spec,
    };
    for (const [name, object] of Object.entries({ pod, policy }))
      writeFileSync(join(place, `${name}.json`), JSON.stringify(object));
    const { stdout, stderr } = await explain("1.2.3.4", "a", "-f", place);
    match(stdout, /: ALLOWED/);
    match(stderr, /note: GlobalNetworkPolicy newer: "mirror" is no action; nodes take it as not there/);
  } finally {
    rmSync(place, { recursive: true });
  }
});

const badQuestions: readonly (readonly [readonly string[], RegExp])[] = [
  [["shop/wep", "shop/db"], /there is no pod shop\/wep with an address\.\nDid you mean shop\/web\?/],
  [["nowhere/app=x", "shop/db"], /there is no namespace nowhere\.\nKnown are default and shop/],
  [["shop/web"], /takes a source and a destination/],
  [["shop/web", "a/b/c"], /is none of what explain knows/],
  [
    ["shop/web", "10.0.0.0/8"],
    /10\.0\.0\.0\/8 is a network, and explain answers for one address\.\nGive one address of it/,
  ],
  [["shop/web", "300.1.1.1"], /300\.1\.1\.1 is no address/],
  [["shop/web", "shop/db", "--server", "127.0.0.1:1"], /--server asks a Typha, and another flag names a datastore/],
  [["--matrix", "-n", "shoop"], /there is no namespace shoop\.\nDid you mean shop\?/],
  [["--matrix", "--protocol", "carrier-pigeon"], /is no protocol/],
  [["--matrix", "--protocol", "icmp", "--port", "7"], /has no ports that rules can name/],
  [["shop/web", "shop/db", "--protocol", "carrier-pigeon"], /is no protocol/],
  [["shop/web", "shop/db", "--protocol", "icmp", "--port", "7"], /has no ports that rules can name/],
  [["1.2.3.4", "fd00::1"], /have not both an address of one family/],
  [["--check", "/no/such"], /^cattail: \/no\/such cannot be read \(ENOENT\)\.\nCheck the path/],
  [["--check", "LICENSE"], /^cattail: LICENSE is not YAML: [^\n]* at line \d+, column \d+\.\nEach flow has/],
];

for (const [words, says] of badQuestions)
  test(`a bad question is told what is wrong: ${words.join(" ")}`, async () => {
    const { code, stderr } = await onFolder(...words);
    equal(code, 1);
    match(stderr, says);
  });

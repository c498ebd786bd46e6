// ctl against a real API server that refuses, asks for time, dies in the middle of an answer, or does what it was asked and
// does not say so: clear words, the right exit code, and nothing written that is not named.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { type HttpFaults, startHttpFaults } from "../kit/http-faults.ts";
import { type CtlRunOptions, ctl } from "../kit/run-ctl.ts";

const peer = await clusterPeer();
const api = "/apis/crd.projectcalico.org/v1";

const set = (name: string, nets: readonly string[] = []) =>
  `apiVersion: projectcalico.org/v3\nkind: GlobalNetworkSet\nmetadata:\n  name: ${name}\nspec:\n  nets: [${nets.join(", ")}]\n`;
const sets = (count: number, prefix = "s") =>
  Array.from({ length: count }, (_, at) => set(`${prefix}${String(at).padStart(3, "0")}`)).join("---\n");

describe("ctl and an API server with faults", { skip: peer.missing ?? false }, () => {
  let cluster: Cluster;
  let faults: HttpFaults;
  let folder: string;
  before(async () => {
    cluster = await startCluster();
    await installCrds(
      cluster,
      customKinds.map((kind) => crdManifest(kind)),
    );
    faults = await startHttpFaults(cluster);
    folder = mkdtempSync(join(tmpdir(), "cattail-ctl-faults-"));
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: faults.url } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      "current-context": "c",
    };
    writeFileSync(join(folder, "kubeconfig"), JSON.stringify(config));
    equal((await run(["apply", "-f", "-"], { stdin: set("first") })).rc, 0);
    await clean();
  });
  after(async () => {
    await faults?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (words: readonly string[], options: Omit<CtlRunOptions, "env"> = {}) =>
    ctl(words, { env: { KUBECONFIG: join(folder, "kubeconfig"), DATASTORE_TYPE: "kubernetes" }, ...options });
  const namesOf = async (plural: string) => {
    const { items } = (await cluster.must("GET", `${api}/${plural}`)) as { items: { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name);
  };
  const clean = async () => {
    faults.set(() => undefined);
    for (const plural of ["globalnetworksets", "ippools", "globalnetworkpolicies"]) {
      for (const name of await namesOf(plural)) await cluster.must("DELETE", `${api}/${plural}/${name}`);
    }
  };
  const isWrite = (asked: string, plural: string) => new RegExp(`^(POST|PUT|DELETE) .*/${plural}`).test(asked);

  test("an API server that asks for time is left alone, and then everything is written", async () => {
    let refusals = 5;
    faults.set((asked) =>
      isWrite(asked, "globalnetworksets") && refusals-- > 0
        ? { does: "answer", status: 429, retryAfter: 1, message: "too many requests" }
        : undefined,
    );
    const started = performance.now();
    const { rc, out, err } = await run(["apply", "-f", "-"], { stdin: sets(40) });
    deepEqual({ rc, out, err }, { rc: 0, out: "Successfully applied 40 'GlobalNetworkSet' resource(s)\n", err: "" });
    ok(performance.now() - started >= 1000, "it waited as long as it was asked to");
    equal((await namesOf("globalnetworksets")).length, 40);
    await clean();
  });

  test("one object that the server fails on is named, the others are written", async () => {
    let posts = 0;
    faults.set((asked) => {
      const isMeant = asked.startsWith("POST") && asked.includes("/globalnetworksets") && ++posts === 2;
      return isMeant ? { does: "answer", status: 500, message: "etcd is not well" } : undefined;
    });
    const { rc, out, err } = await run(["create", "-f", "-"], { stdin: sets(5) });
    equal(rc, 1);
    equal(out, "Partial success: created the first 4 out of 5 'GlobalNetworkSet' resources:\n");
    match(err, /^hit error: \[etcd is not well; GlobalNetworkSet\(s00\d\) is not there\]\n$/);
    equal((await namesOf("globalnetworksets")).length, 4);
    await clean();
  });

  test("a write whose answer got lost is said to be there", async () => {
    faults.set((asked) =>
      asked.startsWith("POST") && asked.includes("/globalnetworksets") ? { does: "lose" } : undefined,
    );
    const { rc, out, err } = await run(["create", "-f", "-"], { stdin: set("lost") });
    deepEqual([rc, out], [1, ""]);
    match(err, /failed to create 'GlobalNetworkSet' resource: \[.*; GlobalNetworkSet\(lost\) is there now/);
    deepEqual(await namesOf("globalnetworksets"), ["lost"]);
    await clean();
  });

  test("when nobody answers any more, the rest is not tried, and each object is named", async () => {
    let isDown = false;
    faults.set((asked) => {
      if (
        asked.includes("/globalnetworksets") &&
        faults.asked.filter((each) => each.includes("/globalnetworksets")).length > 10
      )
        isDown = true;
      return isDown ? { does: "answer", status: 503, message: "the server is going away" } : undefined;
    });
    const { rc, err } = await run(["create", "-f", "-"], { stdin: sets(60) });
    faults.set(() => undefined);
    equal(rc, 1);
    const there = new Set(await namesOf("globalnetworksets"));
    ok(there.size > 0 && there.size < 60);
    match(err, /Not tried, because there was no answer 3 times in a row: GlobalNetworkSet\(/);
    for (let at = 0; at < 60; at++) {
      const name = `s${String(at).padStart(3, "0")}`;
      const isNamed = err.includes(`GlobalNetworkSet(${name})`);
      ok(there.has(name) || isNamed, `${name} is neither there nor named`);
    }
    await clean();
  });

  test("a pool whose deletion stops half-way is said to be there, and disabled", async () => {
    const pool = "apiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 10.0.0.0/16}\n";
    equal((await run(["apply", "-f", "-"], { stdin: pool })).rc, 0);
    faults.set((asked) =>
      asked.includes("blockaffinities") ? { does: "answer", status: 500, message: "no affinities today" } : undefined,
    );
    const { rc, out, err } = await run(["delete", "ippool", "p"]);
    deepEqual([rc, out], [1, ""]);
    equal(err, "Failed to delete 'IPPool' resource: no affinities today; IPPool(p) is still there, and disabled\n\n");
    await clean();
  });

  test("a list that is cut off in the middle is an error, not half a list", async () => {
    equal((await run(["apply", "-f", "-"], { stdin: sets(50) })).rc, 0);
    faults.set((asked) => (asked.includes("/globalnetworksets?") ? { does: "cut", afterBytes: 3000 } : undefined));
    for (const format of ["ps", "yaml"]) {
      const { rc, out, err } = await run(["get", "globalnetworksets", "-o", format]);
      equal(rc, 1);
      equal(out, format === "ps" ? "" : "null\n");
      match(err, /globalnetworksets/);
    }
    await clean();
  });

  test("a change that the server keeps failing on ends soon, with its words and what is there", async () => {
    equal((await run(["apply", "-f", "-"], { stdin: set("a") })).rc, 0);
    faults.set((asked) => (asked.startsWith("PUT") ? { does: "answer", status: 500, message: "not now" } : undefined));
    const { rc, err } = await run(["apply", "-f", "-"], { stdin: set("a", ["10.0.0.0/8"]) });
    equal(rc, 1);
    match(err, /^failed to apply 'GlobalNetworkSet' resource: \[not now; GlobalNetworkSet\(a\) is there now/);
    equal(faults.asked.filter((asked) => asked.startsWith("PUT")).length, 3);
    await clean();
  });

  test("an interruption while the server does not answer ends the command, and names what is not known", async () => {
    const stopping = new AbortController();
    faults.set((asked) => {
      if (!asked.includes("globalnetworksets")) return undefined;
      stopping.abort(130);
      return { does: "hang" };
    });
    const { rc, err } = await run(["create", "-f", "-"], { stdin: sets(12), signal: stopping.signal });
    equal(rc, 130);
    match(err, /interrupted; whether GlobalNetworkSet\(s000\) was changed is not known/);
    for (let at = 0; at < 12; at++) ok(err.includes(`(s${String(at).padStart(3, "0")})`), err);
    await clean();
  });

  test("a server that answers 500 to everything: its words, once, exit code 1", async () => {
    faults.set(() => ({ does: "answer", status: 500, message: "all is lost" }));
    for (const words of [
      ["get", "ippools"],
      ["delete", "ippool", "p"],
      ["label", "node", "n1", "a=b"],
    ]) {
      const { rc, out, err } = await run([...words, "--allow-version-mismatch"]);
      deepEqual([rc, out], [1, ""], words.join(" "));
      equal(err.split("all is lost").length, 2, `${words.join(" ")}: ${err}`);
    }
    await clean();
  });

  test("an interruption in the middle of many writes says how far it came", async () => {
    const stopping = new AbortController();
    faults.set((asked) => {
      if (asked.startsWith("POST") && faults.asked.filter((each) => each.startsWith("POST")).length === 30)
        stopping.abort(130);
      return undefined;
    });
    const { rc, err } = await run(["create", "-f", "-"], { stdin: sets(200), signal: stopping.signal });
    equal(rc, 130);
    match(err, /Not tried, because the command was interrupted: GlobalNetworkSet\(s/);
    const there = new Set(await namesOf("globalnetworksets"));
    for (let at = 0; at < 200; at++) {
      const name = `s${String(at).padStart(3, "0")}`;
      ok(there.has(name) !== err.includes(`(${name})`), `${name}: there ${there.has(name)}, named the other way round`);
    }
    await clean();
  });

  test("a write that loses to somebody else says which versions met", async () => {
    equal((await run(["apply", "-f", "-"], { stdin: set("a") })).rc, 0);
    const old = set("a").replace("  name: a\n", '  name: a\n  resourceVersion: "1"\n');
    for (const verb of ["apply", "replace"]) {
      const { rc, err } = await run([verb, "-f", "-"], { stdin: old });
      equal(rc, 1);
      match(err, /update conflict: GlobalNetworkSet\(a\): resourceVersion 1 was given, \d+ is stored/, verb);
    }
    await clean();
  });

  test("a dry run and a diff write nothing, not even what a first write makes", async () => {
    const policy =
      "apiVersion: projectcalico.org/v3\nkind: Tier\nmetadata: {name: t}\nspec: {order: 5}\n---\napiVersion: projectcalico.org/v3\n" +
      "kind: GlobalNetworkPolicy\nmetadata: {name: t.p}\nspec: {tier: t, selector: all()}\n";
    faults.set(() => undefined);
    const before = await namesOf("tiers");
    for (const tier of before) await cluster.must("DELETE", `${api}/tiers/${tier}`);
    const dry = await run(["apply", "--dry-run", "-f", "-"], { stdin: policy });
    deepEqual(dry, {
      rc: 0,
      out: "Tier(t) would be created\nGlobalNetworkPolicy(t.p) would be created\nNothing was written: this was a dry run\n",
      err: "",
    });
    const diff = await run(["diff", "-f", "-"], { stdin: policy });
    equal(diff.rc, 1);
    match(diff.out, /^--- \/dev\/null\n\+\+\+ applied\/Tier\/t\n@@ -0,0 \+1,\d+ @@\n\+apiVersion/);
    deepEqual(await namesOf("tiers"), []);
    const isWriting = (asked: string) => /^(POST|PUT|PATCH|DELETE)/.test(asked);
    ok(
      faults.asked.filter(isWriting).every((asked) => asked.endsWith("?dryRun=All")),
      faults.asked.join("\n"),
    );
    equal((await run(["apply", "-f", "-"], { stdin: policy })).rc, 0);
    deepEqual(await run(["diff", "-f", "-"], { stdin: policy }), { rc: 0, out: "", err: "" });
    const refused = await run(["diff", "-f", "-"], { stdin: policy.replace("all()", "what") });
    equal(refused.rc, 2);
    match(refused.err, /error with field Selector = 'what'/);
    await cluster.must("DELETE", `${api}/globalnetworkpolicies/t.p`);
    await cluster.must("DELETE", `${api}/tiers/t`);
  });

  test("get -w goes on after its stream breaks off, misses nothing, and ends well", async () => {
    const stopping = new AbortController();
    let shown = "";
    const watching = run(["get", "globalnetworksets", "-w", "-o", "name"], {
      signal: stopping.signal,
      onOut: (out) => {
        shown = out;
      },
    });
    equal((await run(["apply", "-f", "-"], { stdin: set("a") })).rc, 0);
    await eventually(() => shown.includes("ADDED globalnetworkset/a\n"), "the first object");
    let isDown = true;
    faults.set((asked) =>
      isDown && asked.includes("/globalnetworksets?") ? { does: "answer", status: 500, message: "down" } : undefined,
    );
    faults.cutAll();
    const [body] = [
      { apiVersion: "crd.projectcalico.org/v1", kind: "GlobalNetworkSet", metadata: { name: "b" }, spec: {} },
    ];
    await eventually(async () => (await cluster.ask("POST", `${api}/globalnetworksets`, body)).status === 201, "b");
    await cluster.must("DELETE", `${api}/globalnetworksets/a`);
    isDown = false;
    await eventually(() => shown.includes("ADDED globalnetworkset/b\n"), "what came while nobody watched");
    await eventually(() => shown.includes("DELETED globalnetworkset/a\n"), "what went while nobody watched");
    stopping.abort(130);
    const { rc, err } = await watching;
    equal(rc, 0);
    match(err, /trying again/);
    await clean();
  });

  test("an object that cannot be read is told beside the list", async () => {
    const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/globalnetworksets.crd.projectcalico.org`;
    const definition = (await cluster.must("GET", crd)) as { spec: { versions: { schema: object }[] } };
    const [version] = definition.spec.versions;
    const open = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await cluster.must("PUT", crd, {
      ...definition,
      spec: { ...definition.spec, versions: [{ ...version, schema: open }] },
    });
    const bad = {
      apiVersion: "crd.projectcalico.org/v1",
      kind: "GlobalNetworkSet",
      metadata: { name: "bad" },
      spec: { nets: 7 },
    };
    await eventually(
      async () => (await cluster.ask("POST", `${api}/globalnetworksets`, bad)).status === 201,
      "the bad one",
    );
    equal((await run(["apply", "-f", "-"], { stdin: set("good") })).rc, 0);
    const listed = await run(["get", "globalnetworksets"]);
    equal(listed.rc, 1);
    match(listed.out, /^NAME +\ngood +\n\n$/);
    match(listed.err, /^GlobalNetworkSet\(bad\) cannot be read: spec\.nets: /);
    const named = await run(["get", "globalnetworkset", "bad"]);
    match(named.err, /GlobalNetworkSet\(bad\).*spec\.nets/);
    await clean();
  });

  test("a name that nearly matches is suggested, by every verb that looks for one", async () => {
    equal((await run(["apply", "-f", "-"], { stdin: set("office-networks") })).rc, 0);
    const meant = "Did you mean GlobalNetworkSet(office-networks)?\n";
    for (const words of [
      ["get", "globalnetworkset", "ofice-networks"],
      ["delete", "globalnetworkset", "ofice-networks"],
      ["patch", "globalnetworkset", "ofice-networks", "-p", "{}"],
      ["label", "globalnetworkset", "ofice-networks", "a=b"],
    ]) {
      const { rc, err } = await run(words);
      equal(rc, 1);
      ok(err.endsWith(meant), `${words.join(" ")}: ${err}`);
    }
    await clean();
  });
});

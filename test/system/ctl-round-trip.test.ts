// What `get -o yaml` prints can be applied again and changes nothing: random objects of every kind, on every datastore.
import { deepEqual, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { isRecord, type JsonRecord } from "../../src/base/lib/index.ts";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { etcdStore } from "../conformance/ctl/etcd-store.ts";
import { folderStore } from "../conformance/ctl/folder-store.ts";
import { kubernetesStore } from "../conformance/ctl/kubernetes-store.ts";
import { withinTest } from "../conformance/ctl/programs.ts";
import { asFile } from "../conformance/ctl/samples.ts";
import type { Store } from "../conformance/ctl/store.ts";
import { ctlKinds, documentOf } from "../fuzz/ctl/documents.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { etcdMissing, startEtcd } from "../kit/etcd.ts";

type Place = {
  readonly place: string;
  readonly missing: string | undefined;
  readonly runs: number;
  readonly open: (until: AsyncDisposableStack, folder: string) => Promise<Store>;
};

const places: readonly Place[] = [
  { place: "a folder", missing: undefined, runs: 25, open: async (_, folder) => folderStore(join(folder, "d")) },
  {
    place: "etcd",
    missing: await etcdMissing(),
    runs: 25,
    async open(until) {
      const [member] = until.use(await startEtcd()).members;
      if (member === undefined) throw new Error("no etcd member");
      return etcdStore(member);
    },
  },
  {
    place: "Kubernetes",
    missing: (await clusterPeer()).missing,
    runs: 15,
    async open(until) {
      const cluster = until.use(await startCluster());
      await installCrds(
        cluster,
        customKinds.map((kind) => crdManifest(kind)),
      );
      return await kubernetesStore(cluster);
    },
  },
];

/** One of each kind: what some rule refuses is passed over, the others are there. */
const documents = fc.tuple(
  ...ctlKinds.filter((kind) => kind !== "ClusterInformation").map((kind) => documentOf(kind, 0)),
);

for (const { place, missing, runs, open } of places) {
  describe(`objects that are applied as they were shown, on ${place}`, { skip: missing ?? false }, () => {
    const until = new AsyncDisposableStack();
    const home = mkdtempSync(join(tmpdir(), "cattail-ctl-round-trip-"));
    let store: Store;
    before(async () => {
      mkdirSync(join(home, "w"));
      store = await open(until, home);
    });
    after(async () => {
      await until.disposeAsync();
      rmSync(home, { recursive: true, force: true });
    });

    const run = async (...argv: string[]) => {
      const env = { PATH: process.env.PATH ?? "", HOME: home, ...store.env };
      return await withinTest({ argv, env, cwd: join(home, "w"), stdin: "", timeoutMs: 120_000 });
    };

    test("nothing changes", async () => {
      const kept = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(documents, async (given) => {
          await store.clean();
          if (place === "Kubernetes") for (const object of around) await store.create(object);
          writeFileSync(join(home, "w/given.yaml"), asFile(given));
          const { stderr } = await run("apply", "-f", "given.yaml");
          fc.pre(!stderr.startsWith("failed to execute command")); // a value that no reader takes
          const { stdout: shown } = await run("get", "-f", "given.yaml", "-o", "yaml");
          const before = await store.dump();
          for (const object of before) kept.set(kindOf(object), (kept.get(kindOf(object)) ?? 0) + 1);
          writeFileSync(join(home, "w/shown.yaml"), shown);
          const again = await run("apply", "-f", "shown.yaml");
          // Views of Kubernetes' own objects are shown, and cannot be written.
          const left = again.stderr.replaceAll(notWritten, "");
          ok(again.rc === 0 || /^hit error: \[\s*\]\s*$/.test(left), `${again.stderr}\n${shown}`);
          deepEqual(await store.dump(), before);
        }),
        { numRuns: runs, endOnFailure: true, includeErrorInReport: true },
      );
      // Most kinds must have been there, or nothing was shown.
      ok(kept.size >= 17, `only ${[...kept.keys()].join(", ")}`);
    });
  });
}

const notWritten =
  /operation \w+ is not supported on (Profile|WorkloadEndpoint)\([^ )]*\)(: unsupported PatchMode: \w+)?/g;

/** What the objects of Kubernetes need to be written. */
const around: readonly JsonRecord[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
  { apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels: { zone: "z" } } },
];

function kindOf(object: JsonRecord): string {
  const { kind } = isRecord(object.value) ? object.value : object;
  return String(kind);
}

// Objects go back and forth between ours and the original's calicoctl, on the same datastore: what one writes the other reads to the
// letter, applies again without a change, and deletes. CATTAIL_ORIGINAL_CALICOCTL names the original ("calico ctl").
import { deepEqual, equal } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isRecord, type JsonRecord } from "../../src/base/lib/index.ts";
import { crdManifest, customKinds } from "../../src/calico/kinds/index.ts";
import { etcdStore } from "../conformance/ctl/etcd-store.ts";
import { kubernetesStore } from "../conformance/ctl/kubernetes-store.ts";
import { Masks, withoutBookkeeping } from "../conformance/ctl/masks.ts";
import { aProcess, type Program, withinTest } from "../conformance/ctl/programs.ts";
import { asFile, etcdSamples, samples } from "../conformance/ctl/samples.ts";
import type { Store } from "../conformance/ctl/store.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { etcdMissing, startEtcd } from "../kit/etcd.ts";

const { CATTAIL_ORIGINAL_CALICOCTL: original } = process.env;
const notGiven =
  original === undefined ? "CATTAIL_ORIGINAL_CALICOCTL does not name the original's calicoctl" : undefined;
const theirs: Program = aProcess((original ?? "").split(" "));

const places = [
  {
    place: "Kubernetes",
    missing: notGiven ?? (await clusterPeer()).missing,
    objects: samples,
    async open(until: AsyncDisposableStack): Promise<Store> {
      const cluster = until.use(await startCluster());
      await installCrds(
        cluster,
        customKinds.map((kind) => crdManifest(kind)),
      );
      return await kubernetesStore(cluster);
    },
  },
  {
    place: "etcd",
    missing: notGiven ?? (await etcdMissing()),
    objects: [...etcdSamples, ...samples],
    async open(until: AsyncDisposableStack): Promise<Store> {
      const [member] = until.use(await startEtcd()).members;
      if (member === undefined) throw new Error("no etcd member");
      return etcdStore(member);
    },
  },
];

const ways = [
  { way: "ours writes, the original reads", writer: withinTest, reader: theirs },
  { way: "the original writes, ours reads", writer: theirs, reader: withinTest },
];

for (const { place, missing, objects, open } of places) {
  describe(`objects of ours and of the original, on ${place}`, { skip: missing ?? false }, () => {
    const until = new AsyncDisposableStack();
    const cwd = mkdtempSync(join(tmpdir(), "cattail-ctl-interop-"));
    let store: Store;
    before(async () => {
      store = await open(until);
    });
    after(async () => {
      rmSync(cwd, { recursive: true, force: true });
      await until.disposeAsync();
    });

    const run = async (program: Program, ...argv: string[]) => {
      const env = { PATH: process.env.PATH ?? "", HOME: cwd, ...store.env };
      return await program({ argv, env, cwd, stdin: "", timeoutMs: 120_000 });
    };
    const must = async (program: Program, ...argv: string[]) => {
      const { rc, stdout, stderr } = await run(program, ...argv);
      equal(rc, 0, `${argv.join(" ")}: ${stdout}${stderr}`);
      return stdout;
    };

    for (const { way, writer, reader } of ways) {
      test(`${way}: every kind, in every form`, async () => {
        await store.clean();
        writeFileSync(join(cwd, "all.yaml"), asFile(objects));
        equal(await must(writer, "apply", "-f", "all.yaml"), `Successfully applied ${objects.length} resource(s)\n`);
        for (const object of objects) {
          const words = ["get", ...identityOf(object)];
          for (const form of ["yaml", "json", "wide"]) {
            const shown = {
              ours: await run(withinTest, ...words, "-o", form),
              theirs: await run(theirs, ...words, "-o", form),
            };
            if (form === "wide" && shown.theirs.rc === 2) continue; // some tables are a crash of the original
            deepEqual([shown.ours.rc, shown.theirs.rc], [0, 0], `${words.join(" ")} -o ${form}: ${shown.ours.stderr}`);
            equal(bare(shown.ours.stdout), bare(shown.theirs.stdout), `${words.join(" ")} -o ${form}`);
          }
        }
      });

      test(`${way}: applied again by the other, nothing changes`, async () => {
        const before = (await store.dump()).map(withoutRevision);
        const parts: string[] = [];
        for (const object of objects) parts.push(await must(reader, "get", ...identityOf(object), "-o", "yaml"));
        writeFileSync(join(cwd, "again.yaml"), parts.join("---\n"));
        await must(reader, "apply", "-f", "again.yaml");
        deepEqual((await store.dump()).map(withoutRevision), before);
      });

      test(`${way}: deleted by the other, all are gone`, async () => {
        // The last ones first: a tier goes after its policies.
        writeFileSync(join(cwd, "all.yaml"), asFile(objects.toReversed()));
        await must(reader, "delete", "-f", "all.yaml");
        for (const object of objects) {
          const { rc, stderr } = await run(writer, "get", ...identityOf(object));
          deepEqual([rc, /resource does not exist/.test(stderr)], [1, true], `${identityOf(object)}: ${stderr}`);
        }
      });
    }
  });
}

function identityOf({ kind, metadata }: JsonRecord): string[] {
  const { name, namespace } = isRecord(metadata) ? metadata : {};
  return [String(kind), String(name), ...(namespace === undefined ? [] : ["-n", String(namespace)])];
}

/** Without what an API server keeps for itself, which the original shows of objects that others made. */
function bare(text: string): string {
  return new Masks([]).text(text);
}

function withoutRevision(object: JsonRecord): unknown {
  return withoutBookkeeping(
    JSON.parse(JSON.stringify(object, (key, value) => (key === "resourceVersion" ? undefined : value))),
  );
}

// The recorded runs of calicoctl on a folder: the same answers. What is stored is compared with what etcd holds in the recordings:
// the same v3 objects, each in a file instead of a key.
import { deepEqual } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { casesOn, type GoldenCase, type Result } from "../conformance/ctl/case.ts";
import { differences } from "../conformance/ctl/compare.ts";
import { folderStore } from "../conformance/ctl/folder-store.ts";
import { withinTest } from "../conformance/ctl/programs.ts";
import { runCase } from "../conformance/ctl/run-case.ts";

/** About what a folder does not have: an API server that looks at the CRDs after us, namespaces of its own, a type that is recorded. */
const notForFolders =
  /-bad$|^gnp-bad|many-errors|refused-by-crd|^(datastore-lock|delete-old-version|etcd-first-write|etcd-migrate-export|get-aliases|ip-reservation|tier-forms)$/;

const cases = casesOn("etcdv3", "kubernetes").filter(
  ({ name, initial, steps }) =>
    initial.length === 0 &&
    !notForFolders.test(name) &&
    steps.every(({ as, fill, env }) => as === undefined && fill === undefined && env === undefined),
);

describe("recorded runs of calicoctl, on a folder", () => {
  const parent = mkdtempSync(join(tmpdir(), "cattail-ctl-folder-"));
  after(() => rmSync(parent, { recursive: true, force: true }));
  const store = folderStore(join(parent, "d"));
  for (const golden of cases) {
    test(`${golden.name}: ${golden.about}`, async () => {
      const got = await runCase(golden, withinTest, store);
      deepEqual(differences(golden, asOfFolder(golden.expected, golden), asOfFolder(got, golden)), []);
    });
  }
});

/** What follows "with error:" is the datastore's own word for it. */
function asOfFolder({ steps, stored }: Result, { on }: GoldenCase): Result {
  const plain = (line: string) =>
    line.replaceAll(/ with error: (<nil>|\S+ "[^"]*" (not found|already exists))/g, " with error: …");
  return {
    steps: steps.map((step) => ({ ...step, stderr: step.stderr.map(plain) })),
    ...(stored === undefined || on !== "etcdv3" ? {} : { stored }),
  };
}

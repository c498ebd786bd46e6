import { deepEqual, equal, match } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CattailError } from "../../../base/lib/index.ts";
import { createMemoryDatastore, DatastoreError, openDirectoryDatastore } from "../../../calico/datastore/index.ts";
import { type Finding, isProblem } from "../finding.ts";
import { checkDatastore } from "./check-datastore.ts";

const codes = (findings: readonly Finding[]) => findings.flatMap((one) => (isProblem(one) ? [one.code] : []));

const failing = (error: unknown) =>
  createMemoryDatastore({
    intercept: () => {
      throw error;
    },
  });

const cases: { name: string; open: Parameters<typeof checkDatastore>[0]; code?: string; says: RegExp }[] = [
  { name: "an empty datastore", open: async () => createMemoryDatastore(), says: /answers; it holds no Cluster/ },
  {
    name: "settings that can never work",
    open: async () => {
      throw new CattailError("X", { problem: "no such file", next: "make it" });
    },
    code: "DATASTORE_SETTINGS",
    says: /no such file/,
  },
  {
    name: "a datastore that is away",
    open: async () => failing(new DatastoreError("unavailable", "connect ECONNREFUSED")),
    code: "DATASTORE_UNREACHABLE",
    says: /ECONNREFUSED/,
  },
  {
    name: "a datastore that does not know us",
    open: async () => failing(new DatastoreError("unauthorized", "401")),
    code: "DATASTORE_REFUSED",
    says: /401/,
  },
];
for (const { name, open, code, says } of cases) {
  test(`doctor: ${name}`, async () => {
    const [section] = await checkDatastore(open);
    deepEqual(codes(section?.findings ?? []), code === undefined ? [] : [code]);
    match(section?.findings[0]?.what ?? "", says);
  });
}

test("doctor: every problem of a folder of manifests is told with file and line, up to twenty", async () => {
  const path = mkdtempSync(join(tmpdir(), "cattail-doctor-"));
  try {
    writeFileSync(join(path, "good.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n");
    writeFileSync(join(path, "bad.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {}\n");
    const open = () => openDirectoryDatastore({ path });
    const [one] = await checkDatastore(open);
    deepEqual(codes(one?.findings ?? []), ["MANIFEST_PROBLEM"]);
    match(one?.findings.at(-1)?.what ?? "", /^bad\.yaml:1:1: .*metadata\.name/);
    for (let i = 0; i < 24; i++) writeFileSync(join(path, `x${i}.yaml`), "kind: a\n");
    const [many] = await checkDatastore(open);
    equal(codes(many?.findings ?? []).length, 21);
    match(many?.findings.at(-1)?.what ?? "", /^and 5 more$/);
  } finally {
    rmSync(path, { recursive: true });
  }
});

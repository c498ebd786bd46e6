import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  affinity,
  block,
  clusterInformation,
  connectionTo,
  handle,
  invocationOn,
  ipamConsole,
  pool,
} from "../../../../test/kit/ctl-ipam.ts";
import type { Connection } from "../connection.ts";
import { inAllReports, ownVersion, readReport } from "./check/report.ts";
import { run } from "./release.ts";

const guid = "0123456789abcdef0123456789abcdef";
const attribute = (id: string) => ({ handle_id: id, secondary: { node: "n1", namespace: "default", pod: id } });
const objects = (spec: object) => [
  clusterInformation(spec),
  pool("p", "10.65.0.0/16"),
  block("10.65.1.0/26", { owner: "host:n1", held: { 0: attribute("a"), 1: attribute("b") } }),
  affinity("n1", "10.65.1.0/26"),
  handle("a", { "10.65.1.0/26": 1 }),
  handle("b", { "10.65.1.0/26": 1 }),
  handle("idle", { "10.65.1.0/26": 1 }),
];

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "cattail-release-"));
});
after(() => rm(folder, { recursive: true }));

const names = (function* () {
  for (let at = 0; ; at += 1) yield `report-${at}.json`;
})();

type Fields = {
  version?: string;
  clusterGUID?: string;
  revision?: string;
  leaked?: readonly { ip: string; handle?: string; sequenceNumber?: string }[];
  handles?: readonly { ID: string; UID: string | null; Revision: string }[];
};

/** Of this cluster, unless the fields say something else. Sequence numbers are beyond what JSON.stringify can write. */
async function reportFile(connection: Connection, fields: Fields): Promise<string> {
  const { metadata } = await connection.resources.get("ClusterInformation", { namespace: "", name: "default" });
  const { version = ownVersion(), clusterGUID = guid, revision = metadata.resourceVersion, leaked = [] } = fields;
  const allocations = leaked.map(({ ip, handle: id = "a", sequenceNumber = "1763312345678901230" }) => {
    return `"${ip}": [{"ip": "${ip}", "handle": "${id}", "sequenceNumber": ${sequenceNumber}, "inUse": false, "owners": null}]`;
  });
  const head = { version, clusterGUID, clusterInformationRevision: revision, leakedHandles: fields.handles ?? [] };
  const text = `${JSON.stringify(head).slice(0, -1)}, "allocations": {${allocations.join(",")}}}`;
  const path = join(folder, names.next().value);
  await writeFile(path, text);
  return path;
}

async function released(connection: Connection, flags: Parameters<typeof invocationOn>[1]) {
  const console = ipamConsole();
  const code = await run(invocationOn(connection, flags), console);
  return { code, lines: console.lines() };
}

test("ipam release --ip: gives the address back, and its handle with the last one", async () => {
  const connection = await connectionTo(objects({}));
  deepEqual((await released(connection, { ip: "10.65.1.0" })).lines, ["Successfully released IP address 10.65.1.0"]);
  await rejects(released(connection, { ip: "10.65.1.0" }), { message: "IP address 10.65.1.0 is not assigned" });
  const { items } = await connection.resources.list("IPAMHandle");
  deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["b", "idle"],
  );
});

const wrongAddresses: { name: string; ip: string; error: { message: string; stream?: string } }[] = [
  { name: "a free one", ip: "10.65.1.9", error: { message: "IP address 10.65.1.9 is not assigned" } },
  {
    name: "one of no pool, in its short form",
    ip: "fd00:0::1",
    error: { message: "IP address fd00::1 is not assigned" },
  },
  {
    name: "what is no address",
    ip: "nope",
    error: { message: "Error executing command: invalid IP address specified: nope", stream: "stdout" },
  },
];
for (const { name, ip, error } of wrongAddresses) {
  test(`ipam release --ip: ${name} is refused`, async () => {
    await rejects(released(await connectionTo(objects({})), { ip }), error);
  });
}

test("ipam release: without flags nothing is done", async () => {
  deepEqual(await released(await connectionTo([]), {}), { code: 0, lines: [""] });
});

const refused: { name: string; spec: object; fields: Fields; message: RegExp }[] = [
  {
    name: "a report of another cluster",
    spec: { datastoreReady: false },
    fields: { clusterGUID: "f".repeat(32) },
    message: /^cluster does not match the provided report \(.*\): mismatched cluster GUID\. Refusing to release$/,
  },
  {
    name: "a report of another version",
    spec: { datastoreReady: false },
    fields: { version: "v3.29.0" },
    message: /was produced using a different version \(v3\.29\.0\) of calicoctl\. Refusing to release$/,
  },
  {
    name: "an old report",
    spec: { datastoreReady: false },
    fields: { revision: "old" },
    message: /^the provided reports are all stale - at least one should be up-to-date\./,
  },
  {
    name: "a datastore that is not locked",
    spec: { datastoreReady: true },
    fields: {},
    message: /^data store is not locked\. Either lock the data store, or re-run with --force$/,
  },
];
for (const { name, spec, fields, message } of refused) {
  test(`ipam release --from-report: ${name} is refused, and nothing is released`, async () => {
    const connection = await connectionTo(objects(spec));
    const file = await reportFile(connection, { leaked: [{ ip: "10.65.1.0" }], ...fields });
    await rejects(released(connection, { "from-report": file }), { message });
    const { spec: stored } = await connection.resources.get("IPAMBlock", { namespace: "", name: "10-65-1-0-26" });
    equal(Array.isArray(stored.unallocated) && stored.unallocated.length, 62);
  });
}

test("ipam release --from-report --force: says what it passes over, but never takes another cluster's report", async () => {
  const connection = await connectionTo(objects({ datastoreReady: true }));
  const file = await reportFile(connection, { version: "v3.29.0" });
  deepEqual((await released(connection, { "from-report": file, force: "" })).lines, [
    "WARNING: Report was produced using a different version of calicoctl. Ignoring due to --force option",
    "WARNING: Data store is not locked. Ignoring due to --force option",
    "Report didn't contain any leaked IPs to clean up.",
    "Report didn't contain any handles to clean up.",
    "You may now unlock the data store.",
  ]);
  const foreign = await reportFile(connection, { clusterGUID: "f".repeat(32) });
  await rejects(released(connection, { "from-report": foreign, force: "" }), /mismatched cluster GUID/);
});

const numbers: { name: string; leaked: Fields["leaked"]; code: number; lines: RegExp[] }[] = [
  {
    name: "this very allocation is released",
    leaked: [{ ip: "10.65.1.0" }],
    code: 0,
    lines: [/^Releasing 1 old IPs\.\.\.$/, /^Released 1 IPs successfully$/],
  },
  {
    name: "one that was made since, by its number, is not",
    leaked: [{ ip: "10.65.1.0", sequenceNumber: "1763312345678901229" }],
    code: 1,
    lines: [
      /^Releasing 1/,
      /^An error occurred while releasing some IPs: the given sequence number \(1763312345678901229\)/,
    ],
  },
  {
    name: "one that another handle holds now is not",
    leaked: [{ ip: "10.65.1.1", handle: "a" }],
    code: 1,
    lines: [/^Releasing 1/, /^An error occurred while releasing some IPs: the given handle \(a\) does not match/],
  },
  {
    name: "one that is free already is counted",
    leaked: [{ ip: "10.65.1.7" }],
    code: 0,
    lines: [
      /^Releasing 1/,
      /^Released 0 IPs successfully$/,
      /^1 addresses marked as leaked .* already been cleaned up\.$/,
    ],
  },
];
for (const { name, leaked = [], code, lines } of numbers) {
  test(`ipam release --from-report: ${name}`, async () => {
    const connection = await connectionTo(objects({ datastoreReady: false }));
    const done = await released(connection, { "from-report": await reportFile(connection, { leaked }) });
    equal(done.code, code);
    for (const [at, line] of lines.entries()) match(done.lines[at] ?? "", line);
  });
}

test("ipam release --from-report: a handle that was written or made again since is skipped", async () => {
  const connection = await connectionTo(objects({ datastoreReady: false }));
  const { metadata } = await connection.resources.get("IPAMHandle", { namespace: "", name: "idle" });
  const known = { ID: "idle", UID: metadata.uid ?? null, Revision: metadata.resourceVersion ?? "" };
  const handles = [
    { ...known, ID: "missing" },
    { ...known, ID: "a" },
    { ...known, ID: "idle" },
  ];
  const { lines } = await released(connection, { "from-report": await reportFile(connection, { handles }) });
  equal(lines.at(-2), "Released 1 handles; 2 skipped; 0 errors.");
});

test("ipam release --from-report: a file that is missing, or no report, is named", async () => {
  const connection = await connectionTo(objects({ datastoreReady: false }));
  const message = "open none.json: no such file or directory";
  await rejects(released(connection, { "from-report": "none.json" }), { message });
  const file = join(folder, "bad.json");
  for (const [text, why] of [
    ["{", /bad\.json is not a report of ipam check: /],
    ["[]", /it is not a JSON object/],
    ['{"allocations": 1}', /allocations is not an object/],
  ] as const) {
    await writeFile(file, text);
    await rejects(released(connection, { "from-report": file }), why);
  }
});

test("of several reports, what leaked in all of them is released, as the last one has it", () => {
  const report = (number: number, ips: string[], revision: string) =>
    readReport(
      "r.json",
      JSON.stringify({
        allocations: Object.fromEntries(ips.map((ip) => [ip, [{ ip, sequenceNumber: number, inUse: false }]])),
        leakedHandles: [
          { ID: "h", UID: null, Revision: revision },
          { ID: "same", UID: "u", Revision: "1" },
        ],
      }),
    );
  const { addresses, handles } = inAllReports([report(1, ["10.0.0.1", "10.0.0.2"], "7"), report(2, ["10.0.0.2"], "8")]);
  deepEqual(
    addresses.map(({ sequenceNumber }) => sequenceNumber),
    [2n],
  );
  deepEqual(handles, [{ id: "same", uid: "u", revision: "1" }]);
});

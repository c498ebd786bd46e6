// An upgrade from release 0.1 and back, one program at a time: servers of one release with clients of the other, certificates of either with the other,
// and a folder in which the newer one has written read by the older. What 0.1 promised is checked without it: test/house/promises-of-0.1.test.ts.
import { deepEqual, equal, ok } from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { Cattail, cattail, probe } from "../kit/cattail-process.ts";
import { freePort } from "../kit/free-port.ts";
import { release01 } from "../kit/older-release.ts";

const older = await release01();
const options = {
  skip: older.path === undefined ? older.missing : false,
  timeout: 300_000,
};
const folder = mkdtempSync(join(tmpdir(), "cattail-upgrade-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Release = "0.1" | "this";
const program = (release: Release) => [
  process.execPath,
  join(release === "0.1" ? (older.path ?? "") : resolve("."), "bin/cattail"),
];
const certificates = (release: Release) => join(folder, `certs-${release}`);
const objects = join(folder, "objects");
const environment = { HOME: folder, PATH: process.env.PATH };

/** What a server writes into a datastore that lacks it, beside answering its first clients: here it is there from the start. */
const prepared = [
  {
    apiVersion: "projectcalico.org/v3",
    kind: "ClusterInformation",
    metadata: { name: "default" },
    spec: { clusterGUID: "0123456789abcdef0123456789abcdef", clusterType: "typha,kdd", datastoreReady: true },
  },
  ...(
    [
      ["default", 1_000_000, "Deny"],
      ["kube-admin", 1_000, "Pass"],
      ["kube-baseline", 10_000_000, "Pass"],
    ] as const
  ).map(([name, order, defaultAction]) => ({
    apiVersion: "projectcalico.org/v3",
    kind: "Tier",
    metadata: { name },
    spec: { order, defaultAction },
  })),
];

const manifests = [
  ...prepared,
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", labels: { team: "a" } } },
  { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", labels: { app: "web" } },
    spec: { nodeName: "n1", containers: [{ name: "c", image: "i", ports: [{ name: "http", containerPort: 80 }] }] },
    status: { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "allow", namespace: "default" },
    spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }], policyTypes: ["Ingress"] },
  },
  {
    apiVersion: "projectcalico.org/v3",
    kind: "IPPool",
    metadata: { name: "pool" },
    spec: { cidr: "10.0.0.0/24", vxlanMode: "Always" },
  },
  {
    apiVersion: "projectcalico.org/v3",
    kind: "BGPPeer",
    metadata: { name: "tor" },
    spec: { peerIP: "10.9.9.9", asNumber: 64512 },
  },
  {
    apiVersion: "projectcalico.org/v3",
    kind: "GlobalNetworkPolicy",
    metadata: { name: "gnp" },
    spec: {
      selector: "app == 'web'",
      order: 10,
      types: ["Ingress"],
      ingress: [{ action: "Allow", source: { nets: ["10.0.0.0/8"] } }],
    },
  },
]
  .map((object) => JSON.stringify(object))
  .join("\n---\n");

before(async () => {
  if (options.skip) return;
  mkdirSync(objects);
  writeFileSync(join(objects, "all.yaml"), manifests);
  for (const release of ["0.1", "this"] as const) {
    const words = ["certs", "all", "--dir", certificates(release)];
    const { code, stderr, stdout } = await cattail(words, { program: program(release), env: environment });
    equal(code, 0, stdout + stderr);
  }
});

/** What a client of one release is told by a server of another, by key. */
async function told(
  server: Release,
  client: Release,
  how: { directory: string; certificates: Release; type: string },
): Promise<Map<string, unknown>> {
  const [port, health] = [await freePort(), await freePort()];
  const files = certificates(how.certificates);
  const env = {
    ...environment,
    TYPHA_DATASTORETYPE: "directory",
    TYPHA_DATASTOREDIRECTORY: how.directory,
    TYPHA_SERVERPORT: String(port),
    TYPHA_SERVERHOST: "127.0.0.1",
    TYPHA_HEALTHENABLED: "true",
    TYPHA_HEALTHPORT: String(health),
    TYPHA_CAFILE: join(files, "typhaca.crt"),
    TYPHA_SERVERCERTFILE: join(files, "typha.crt"),
    TYPHA_SERVERKEYFILE: join(files, "typha.key"),
    TYPHA_CLIENTCN: "calico-node",
    TYPHA_WORKERS: "0",
  };
  await using typha = new Cattail(["typha"], { program: program(server), env });
  await typha.until(
    "ready",
    async () => (await probe(`http://127.0.0.1:${health}/readiness`))?.status === 200 || undefined,
  );
  const words = [
    "watch",
    "--server",
    `127.0.0.1:${port}`,
    "--certs",
    files,
    "--type",
    how.type,
    "--until",
    "in-sync",
    "-o",
    "json",
  ];
  const { code, stdout, stderr } = await cattail(words, { program: program(client), env: environment });
  equal(code, 0, stderr + typha.output);
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const updates = lines.map((line) => JSON.parse(line) as { set?: { key: string; value: unknown } }); // printed by `watch`
  return new Map(updates.flatMap(({ set }) => (set === undefined ? [] : [[set.key, set.value] as const])));
}

for (const type of ["felix", "bgp"])
  test(
    `servers and clients of both releases understand each other, with certificates of either: ${type}`,
    options,
    async () => {
      const reference = await told("0.1", "0.1", { directory: fresh(`${type}-0`), certificates: "0.1", type });
      ok(reference.size > 2, `${reference.size} keys`);
      for (const [server, client, by] of [
        ["0.1", "this", "0.1"],
        ["this", "0.1", "0.1"],
        ["this", "this", "0.1"],
        ["0.1", "0.1", "this"],
      ] as const) {
        const seen = await told(server, client, {
          directory: fresh(`${type}-${server}-${client}-${by}`),
          certificates: by,
          type,
        });
        deepEqual(
          [...seen].filter(isPromised).sort(),
          [...reference].filter(isPromised).sort(),
          `server ${server}, client ${client}`,
        );
      }
    },
  );

test("a folder that this release has written to is served by 0.1 as before", options, async () => {
  const directory = fresh("back");
  const env = { ...environment, DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: directory };
  const pool = join(folder, "second.yaml");
  writeFileSync(
    pool,
    "apiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata:\n  name: second\nspec:\n  cidr: 10.9.0.0/24\n",
  );
  const { code, stderr, stdout } = await cattail(["ctl", "apply", "-f", pool], { program: program("this"), env });
  equal(code, 0, stdout + stderr);
  const newer = await told("this", "this", { directory, certificates: "this", type: "felix" });
  const back = await told("0.1", "0.1", { directory, certificates: "this", type: "felix" });
  ok(
    [...back.keys()].some((key) => key.includes("10.9.0.0")),
    [...back.keys()].join("\n"),
  );
  deepEqual([...back].filter(isPromised).sort(), [...newer].filter(isPromised).sort());
});

test(
  "a policy of a folder that names no directions is told without them by 0.1, and with those that it has rules for by this one",
  options,
  async () => {
    const policy = {
      apiVersion: "projectcalico.org/v3",
      kind: "GlobalNetworkPolicy",
      metadata: { name: "without" },
      spec: { selector: "all()", ingress: [{ action: "Allow" }] },
    };
    const typesOf = async (release: Release) => {
      const directory = fresh(`types-${release}`);
      writeFileSync(join(directory, "without.yaml"), JSON.stringify(policy));
      const seen = await told(release, release, { directory, certificates: release, type: "felix" });
      const [found] = [...seen].filter(([key]) => key.startsWith("/calico/v1/policy/") && key.endsWith("/without"));
      return (found?.[1] as { types?: unknown } | undefined)?.types; // the key/value's own form
    };
    deepEqual([await typesOf("0.1"), await typesOf("this")], [undefined, ["ingress"]]);
  },
);

/** A GUID is made by whoever comes first. */
function isPromised([key]: readonly [string, unknown]): boolean {
  return !/ClusterGUID|clusterinformations/i.test(key);
}

/** Each server has a folder of its own: it may write into it. */
function fresh(name: string): string {
  const copy = join(folder, `objects-${name}`);
  cpSync(objects, copy, { recursive: true });
  return copy;
}

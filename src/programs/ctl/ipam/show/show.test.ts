import { deepEqual, equal, rejects } from "node:assert/strict";
import test from "node:test";
import { block, ipamConsole, pool, withStored } from "../../../../../test/kit/ctl-ipam.ts";
import { run } from "./show.ts";

const objects = [
  pool("p", "10.65.0.0/16"),
  pool("off", "10.66.0.0/24", { disabled: true }),
  block("10.65.1.0/26", {
    owner: "host:n1",
    held: {
      0: { handle_id: "k8s.a", secondary: { node: "n1", namespace: "default", pod: "a" } },
      1: { handle_id: "k8s.b\r more", secondary: { node: "n2", namespace: "default", pod: "b" } },
      2: { releasedAt: "2026-11-16T16:00:00Z" },
      3: { handle_id: "vm", secondary: { node: "n2", namespace: "d", "vmi-name": "v", pod: "virt-launcher-v" } },
      4: { handle_id: "none" },
      5: { secondary: { node: "n1" }, alternateOwnerAttrs: { node: "n2" } },
      6: { handle_id: "t", secondary: { node: "n3", type: "vxlanTunnelAddress" } },
    },
  }),
  block("10.65.3.0/28", { owner: "host:n1", held: { 3: { handle_id: "small", secondary: { node: "n1" } } } }),
  block("10.66.0.0/26", { owner: "host:n1", held: { 3: { handle_id: "off", secondary: { node: "n1" } } } }),
  block("10.67.0.0/26", { held: { 3: { handle_id: "lost", secondary: { node: "n9" } } } }),
];

const addresses: { name: string; ip: string; lines: string[] }[] = [
  {
    name: "one in use is told with its handle and its owner, sorted",
    ip: "10.65.1.0",
    lines: [
      "IP 10.65.1.0 is in use",
      "Handle ID: k8s.a",
      "Active Owner Attributes:",
      "  namespace: default",
      "  node: n1",
      "  pod: a",
    ],
  },
  {
    name: "a handle ends at a carriage return",
    ip: "10.65.1.1",
    lines: [
      "IP 10.65.1.1 is in use",
      "Handle ID: k8s.b",
      "Active Owner Attributes:",
      "  namespace: default",
      "  node: n2",
      "  pod: b",
    ],
  },
  { name: "one that waits after its release is nobody's", ip: "10.65.1.2", lines: ["10.65.1.2 is not assigned"] },
  {
    name: "one without an owner says so",
    ip: "10.65.1.4",
    lines: ["IP 10.65.1.4 is in use", "Handle ID: none", "No Active Owner attributes defined"],
  },
  {
    name: "one without a handle, with a second owner",
    ip: "10.65.1.5",
    lines: [
      "IP 10.65.1.5 is in use",
      "Handle ID: <none>",
      "Active Owner Attributes:",
      "  node: n1",
      "Alternate Owner Attributes:",
      "  node: n2",
    ],
  },
  { name: "a free one in a block is not assigned", ip: "10.65.1.9", lines: ["10.65.1.9 is not assigned"] },
  { name: "one without a block is not assigned", ip: "10.65.200.1", lines: ["10.65.200.1 is not assigned"] },
  { name: "one in no pool is not assigned", ip: "fd00:65:0::1", lines: ["fd00:65::1 is not assigned"] },
  {
    name: "one in a block of another size than its pool's is found",
    ip: "10.65.3.3",
    lines: ["IP 10.65.3.3 is in use", "Handle ID: small", "Active Owner Attributes:", "  node: n1"],
  },
  {
    name: "one in a pool that is off is found",
    ip: "10.66.0.3",
    lines: ["IP 10.66.0.3 is in use", "Handle ID: off", "Active Owner Attributes:", "  node: n1"],
  },
  {
    name: "one whose pool is gone is found",
    ip: "10.67.0.3",
    lines: ["IP 10.67.0.3 is in use", "Handle ID: lost", "Active Owner Attributes:", "  node: n9"],
  },
];
for (const { name, ip, lines } of addresses) {
  test(`ipam show --ip: ${name}`, async () => {
    const console = ipamConsole();
    equal(await run(await withStored(objects, { ip }), console), 0);
    deepEqual(console.lines(), lines);
  });
}

test("ipam show --ip: what is no address ends the command on standard output", async () => {
  const invocation = await withStored([], { ip: "ten" });
  await rejects(run(invocation, ipamConsole()), {
    message: "Error executing command: invalid IP address specified: ten",
    stream: "stdout",
  });
});

test("ipam show: pools by name, with blocks when asked for, and what waits counts as in use", async () => {
  const console = ipamConsole();
  await run(await withStored(objects, { "show-blocks": "" }), console);
  deepEqual(console.lines(), [
    "+----------+--------------+-----------+------------+--------------+--------------+",
    "| GROUPING | CIDR         | IPS TOTAL | IPS IN USE | IPS RESERVED | IPS FREE     |",
    "+----------+--------------+-----------+------------+--------------+--------------+",
    "| IP Pool  | 10.66.0.0/24 |       256 |     1 (0%) |       0 (0%) |   255 (100%) |",
    "| Block    | 10.66.0.0/26 |        64 |     1 (2%) |       0 (0%) |     63 (98%) |",
    "| IP Pool  | 10.65.0.0/16 |     65536 |     8 (0%) |       0 (0%) | 65528 (100%) |",
    "| Block    | 10.65.1.0/26 |        64 |    7 (11%) |       0 (0%) |     57 (89%) |",
    "| Block    | 10.65.3.0/28 |        16 |     1 (6%) |       0 (0%) |     15 (94%) |",
    "| Block    | 10.67.0.0/26 |        64 |     1 (2%) |       0 (0%) |     63 (98%) |",
    "+----------+--------------+-----------+------------+--------------+--------------+",
  ]);
});

test("ipam show: a block that cannot be read is named, and the others are shown", async () => {
  const console = ipamConsole();
  const bad = block("10.65.9.0/26", { held: {} });
  await run(await withStored([{ ...bad, spec: { cidr: "10.65.9.0/26" } }, ...objects], {}), console);
  equal(console.errors(), "IPAMBlock 10-65-9-0-26 is left out: unallocated is no list\n");
  equal(console.lines().length, 6);
});

test("ipam show --show-borrowed: what another node holds, and how many have no node", async () => {
  const console = ipamConsole();
  await run(await withStored(objects, { "show-borrowed": "" }), console);
  deepEqual(console.lines(), [
    "+-----------+----------------+--------------+-------------+--------------------+--------------+",
    "| IP        | BORROWING-NODE | BLOCK        | BLOCK OWNER | TYPE               | ALLOCATED-TO |",
    "+-----------+----------------+--------------+-------------+--------------------+--------------+",
    "| 10.65.1.1 | n2             | 10.65.1.0/26 | n1          | pod                | default/b    |",
    "| 10.65.1.3 | n2             | 10.65.1.0/26 | n1          | vmi                | d/v          |",
    "| 10.65.1.6 | n3             | 10.65.1.0/26 | n1          | vxlanTunnelAddress |              |",
    "| 10.67.0.3 | n9             | 10.67.0.0/26 |             |                    |              |",
    "+-----------+----------------+--------------+-------------+--------------------+--------------+",
    "",
    "Note: found 2 IP allocations without an explicit node association. Unable to determine if they are borrowed.",
  ]);
});

const settings: { name: string; stored: object[]; values: string[] }[] = [
  { name: "without a configuration", stored: [], values: ["false", "true", "0", "Enabled", "0"] },
  {
    name: "with one",
    stored: [
      {
        kind: "IPAMConfig",
        metadata: { name: "default" },
        spec: { strictAffinity: true, autoAllocateBlocks: false, maxBlocksPerHost: 4, ipCooldownSeconds: 30 },
      },
    ],
    values: ["true", "false", "4", "Enabled", "30"],
  },
];
for (const { name, stored, values } of settings) {
  test(`ipam show --show-configuration: ${name}`, async () => {
    const console = ipamConsole();
    await run(await withStored(stored, { "show-configuration": "" }), console);
    const rows = console.lines().slice(3, -1);
    deepEqual(
      rows.map((row) => row.split("|").map((cell) => cell.trim())[2]),
      values,
    );
  });
}

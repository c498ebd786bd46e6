import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { peersOf, readProtocols } from "./protocols.ts";

const rows = (heading: string, ...lines: string[]) => [
  { code: 2002, text: heading },
  ...lines.map((text) => ({ code: 1002, text })),
];
const one = "name     proto    table    state  since       info";
const two = "Name       Proto      Table      State  Since         Info";

const tables: { name: string; heading: string; lines: string[]; generation: 1 | 2; peers: string[] }[] = [
  {
    name: "BIRD 1.6: mesh, node and global peers, and nothing else",
    heading: one,
    lines: [
      "static1  Static   master   up     2026-11-16  ",
      "Mesh_172_30_0_12 BGP      master   up     10:00:05    Established   ",
      "Mesh_172_30_0_13 BGP      master   start  10:00:01    Connect       Socket: Connection refused",
      "Global_10_0_0_1 BGP      master   start  10:00:01    Active        ",
      "Node_10_0_0_2 BGP      master   up     2026-11-15  Established   ",
      "mine BGP master up 10:00:01 Established",
    ],
    generation: 1,
    peers: [
      "4 172.30.0.12 node-to-node mesh up 10:00:05 Established",
      "4 172.30.0.13 node-to-node mesh start 10:00:01 Connect Socket: Connection refused",
      "4 10.0.0.1 global start 10:00:01 Active",
      "4 10.0.0.2 node specific up 2026-11-15 Established",
    ],
  },
  {
    name: "BIRD 2: both families from one daemon",
    heading: two,
    lines: [
      "device1    Device     ---        up     10:00:01.000  ",
      "Mesh_172_30_0_12 BGP        ---        up     10:00:05.123  Established   ",
      "Mesh_fd80_24e2_f998_72d7__2 BGP        ---        up     10:00:05.123  Established   ",
    ],
    generation: 2,
    peers: [
      "4 172.30.0.12 node-to-node mesh up 10:00:05.123 Established",
      "6 fd80:24e2:f998:72d7::2 node-to-node mesh up 10:00:05.123 Established",
    ],
  },
  {
    name: "rows that are cut off are left out",
    heading: one,
    lines: ["Mesh_1_2_3_4 BGP", ""],
    generation: 1,
    peers: [],
  },
];
for (const { name, heading, lines, generation, peers } of tables) {
  test(`protocols: ${name}`, () => {
    const read = readProtocols(rows(heading, ...lines));
    equal(read?.generation, generation);
    const found = peersOf(read ?? { generation: 1, protocols: [] });
    deepEqual(
      found.map(({ family, address, type, state, since, info }) =>
        [family, address, type, state, since, info].join(" "),
      ),
      peers,
    );
  });
}

test("protocols: another table is not read", () => {
  equal(readProtocols(rows("Name Proto Since", "a b c")), undefined);
  equal(readProtocols([]), undefined);
});

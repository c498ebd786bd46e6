import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { NumberOrText } from "../../model/index.ts";
import { groupPorts, simplifyPorts } from "./kubernetes-ports.ts";

const cases: { name: string; ports: NumberOrText[]; simple: NumberOrText[] }[] = [
  { name: "a single port stays", ports: ["80:90"], simple: ["80:90"] },
  { name: "names come first, neighbours merge", ports: [81, 80, "http"], simple: ["http", "80:81"] },
  { name: "one number and a name stay in their order", ports: [80, "http"], simple: [80, "http"] },
  { name: "duplicates go", ports: [80, 80], simple: [80] },
  { name: "ranges overlap and touch", ports: ["100:200", 201, "150:160", 300], simple: ["100:201", 300] },
  { name: "the widest range costs nothing", ports: ["1:65535", "1:65535", 7], simple: ["1:65535"] },
];
for (const { name, ports, simple } of cases) test(`ports: ${name}`, () => deepEqual(simplifyPorts(ports), simple));

test("a protocol that has all ports keeps them, whatever follows or came before", () => {
  const entry = (protocol: string, port?: NumberOrText) => ({ protocol, port });
  const grouped = groupPorts([entry("UDP", 53), entry("UDP"), entry("UDP", 99), entry("TCP", 1), entry("SCTP", 2)]);
  deepEqual(
    [...grouped],
    [
      ["SCTP", [2]],
      ["TCP", [1]],
      ["UDP", undefined],
    ],
  );
});

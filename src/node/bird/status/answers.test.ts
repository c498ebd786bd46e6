// Recorded answers of BIRD 2.0.12 and 1.6.8, and what a CalicoNodeStatus says of them.
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { AnswerReader, type BirdLine } from "../control-socket.ts";
import { nameParts, readRoutes, readSessions, readStatus } from "./answers.ts";
import type { FamilyStatus } from "./gather.ts";
import { nodeStatusOf } from "./report.ts";
import { statusText } from "./tables.ts";

type Answers = { readonly [daemon: string]: { readonly [command: string]: string } };
const recorded = JSON.parse(
  readFileSync(new URL("../../../../test/vectors/bgp/answers.json", import.meta.url), "utf8"),
) as {
  readonly [name: string]: Answers; // as it was written down
};

function linesOf(name: string, daemon: string, command: string): readonly BirdLine[] {
  const read = new AnswerReader().feed(recorded[name]?.[daemon]?.[command] ?? "");
  if (read.is !== "answer") throw new Error(`${name}: no answer of ${daemon} to ${command}`);
  return read.lines;
}

function statusOf(name: string, daemon: string, family: 4 | 6): FamilyStatus {
  const { kinds, sessions } = readSessions(linesOf(name, daemon, "show protocols all"));
  const isOfFamily = (text: string) => text.includes(":") === (family === 6);
  return {
    is: "running",
    daemon: readStatus(linesOf(name, daemon, "show status")),
    sessions: sessions.filter((session) => session.family === family),
    routes: readRoutes(linesOf(name, daemon, "show route")).filter(({ destination }) => isOfFamily(destination)),
    kinds,
  };
}

const dual = { 1: "mesh-dual-stack BIRD 1", 2: "mesh-dual-stack BIRD 2" };
const both = (generation: 1 | 2) => ({
  4: statusOf(dual[generation], "bird.ctl", 4),
  6: statusOf(dual[generation], generation === 1 ? "bird6.ctl" : "bird.ctl", 6),
});

for (const generation of [1, 2] as const) {
  test(`BIRD ${generation}: the status of both families`, () => {
    const { agent, bgp, routes } = nodeStatusOf(both(generation), ["Agent", "BGP", "Routes"]);
    equal(agent?.birdV4?.state, "Ready");
    equal(agent?.birdV4?.version, generation === 1 ? "1.6.8" : "2.0.12");
    equal(agent?.birdV6?.routerID, "172.30.0.11");
    deepEqual([bgp?.numberEstablishedV4, bgp?.numberNotEstablishedV4, bgp?.numberEstablishedV6], [2, 0, 1]);
    deepEqual(
      bgp?.peersV4?.map(({ peerIP, type, state }) => `${peerIP} ${type} ${state}`),
      ["172.30.0.12 NodeMesh Established", "172.30.0.13 NodeMesh Established"],
    );
    const found = routes?.routesV4?.map(({ type, destination, gateway, interface: by, learnedFrom }) =>
      `${type} ${destination} ${gateway} ${by} ${learnedFrom?.sourceType} ${learnedFrom?.peerIP ?? ""}`.trim(),
    );
    deepEqual(found?.sort(), [
      "FIB 10.244.1.0/26 N/A blackhole Static",
      "FIB 10.244.2.0/26 172.30.0.12 eth0 NodeMesh 172.30.0.12",
      "FIB 10.244.3.0/26 172.30.0.13 eth0 NodeMesh 172.30.0.13",
      "FIB 172.30.0.0/24 N/A eth0 Direct",
      "FIB 172.30.1.0/24 172.30.0.254 eth0 Kernel",
    ]);
    equal(routes?.routesV6?.length, 4);
  });

  test(`BIRD ${generation}: of two ways to one network, one is the best`, () => {
    const routes = readRoutes(linesOf(`peer-ecmp BIRD ${generation}`, "bird.ctl", "show route"));
    const ways = routes.filter(({ destination }) => destination === "10.9.0.0/16");
    deepEqual(ways.map(({ gateway, isBest }) => `${gateway} ${isBest}`).sort(), [
      "172.30.0.201 true",
      "172.30.0.202 false",
    ]);
  });

  test(`BIRD ${generation}: a session on a port has the address that BIRD says`, () => {
    const { sessions } = readSessions(
      linesOf(`peer-port-and-password BIRD ${generation}`, "bird.ctl", "show protocols all"),
    );
    deepEqual(
      sessions.map(({ name, address }) => [name, address]),
      [["Global_172_30_0_201_port_1790", "172.30.0.201"]],
    );
  });
}

test("where the BIRD of IPv6 is away, IPv4 is told all the same", () => {
  const seen = { 4: both(1)[4], 6: { is: "absent", why: "nobody there" } as const };
  const { agent, bgp, routes } = nodeStatusOf(seen, ["Agent", "BGP", "Routes"]);
  equal(agent?.birdV6?.state, "NotReady");
  equal(bgp?.numberEstablishedV4, 2);
  equal(routes?.routesV4?.length, 5);
});

test("of classes that nobody asked for nothing is said", () => {
  const { agent, bgp, routes } = nodeStatusOf(both(2), ["BGP"]);
  deepEqual([agent, routes, bgp?.numberEstablishedV4], [{ birdV4: {}, birdV6: {} }, {}, 2]);
});

test("a workload that is a peer does not keep the rest from being told", () => {
  const four = both(2)[4];
  if (four.is === "absent") throw new Error("it is there");
  const sessions = [
    {
      name: "Local_Workload_10_1_0_5",
      kind: "Local_Workload",
      address: "10.1.0.5",
      family: 4,
      state: "up",
      since: "",
      bgpState: "Established",
    } as const,
  ];
  const routes = [
    {
      destination: "10.7.0.0/24",
      gateway: "10.1.0.5",
      interface: "cali1",
      from: "Local_Workload_10_1_0_5",
      isBest: true,
    },
  ];
  const status = nodeStatusOf({ 4: { ...four, sessions, routes }, 6: { is: "absent", why: "" } }, ["BGP", "Routes"]);
  equal(status.bgp?.peersV4?.[0]?.type, "NodePeer");
  deepEqual(status.routes?.routesV4?.[0]?.learnedFrom, { sourceType: "BGPPeer", peerIP: "10.1.0.5" });
});

const names: { name: string; parts: [string, string] | undefined }[] = [
  { name: "Mesh_172_30_0_12", parts: ["Mesh", "172.30.0.12"] },
  { name: "Node_fd00__1_port_1790", parts: ["Node", "fd00::1"] },
  { name: "Local_Workload_10_1_0_5", parts: ["Local_Workload", "10.1.0.5"] },
  { name: "mine", parts: undefined },
];
for (const { name, parts } of names) {
  test(`session names: ${name}`, () => {
    const found = nameParts(name);
    deepEqual(found && [found.kind, found.address], parts);
  });
}

test("tables: three for a family that answers, one line for one that does not", () => {
  const text = statusText({ 4: both(2)[4], 6: { is: "absent", why: "nobody there" } });
  for (const heading of ["READY", "LASTRECONFIG", "PEER ADDRESS", "BGPSTATE", "LEARNEDFROM", "PRIMARY"])
    equal(text.includes(heading), true, heading);
  equal(text.includes("bird v6 does not answer: nobody there"), true);
});

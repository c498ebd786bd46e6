// What BIRD says of its protocols, and which of them are Calico's BGP peers. BIRD 1.6 has one daemon for each family, BIRD 2
// one for both, with other headings; the columns are the same.
import type { BirdLine } from "./control-socket.ts";

export type Protocol = {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly since: string;
  /** Of BGP: its state, and why. */
  readonly info: string;
};

export type Protocols = {
  /** 1: this BIRD is of one family only. */
  readonly generation: 1 | 2;
  readonly protocols: readonly Protocol[];
};

const headingCode = 2002;
const rowCode = 1002;
const headings = ["name", "proto", "table", "state", "since", "info"];

/** Of the answer to "show protocols". Undefined: it is not in a form that we know. */
export function readProtocols(lines: readonly BirdLine[]): Protocols | undefined {
  const at = lines.findIndex(({ code }) => code === headingCode);
  const heading = lines[at]?.text.trim().split(/\s+/);
  if (heading === undefined || heading.join().toLowerCase() !== headings.join()) return undefined;
  const protocols: Protocol[] = [];
  for (const [line, { code, text }] of lines.entries()) {
    // What follows the heading without a code of its own is a row as well.
    if (code !== rowCode && (code !== headingCode || line === at)) continue;
    const [name, kind, _table, state, since, ...info] = text.trim().split(/\s+/);
    if (name === undefined || kind === undefined || state === undefined || since === undefined) continue;
    protocols.push({ name, kind, state, since, info: info.join(" ") });
  }
  return { generation: heading[0] === "Name" ? 2 : 1, protocols };
}

export type Peer = {
  readonly address: string;
  readonly family: 4 | 6;
  readonly type: "node-to-node mesh" | "node specific" | "global";
  readonly state: string;
  readonly since: string;
  readonly info: string;
};

const types = { Mesh: "node-to-node mesh", Node: "node specific", Global: "global" } as const;

/** Calico's peers have their address in their name: Mesh_172_30_0_12, Node_fd80_24e2_f998_72d7__2. */
export function peersOf({ protocols }: Protocols): readonly Peer[] {
  return protocols.flatMap(({ name, kind, state, since, info }): Peer[] => {
    const [, type, place = ""] = /^(Mesh|Node|Global)_(.+)$/.exec(name) ?? [];
    if (kind !== "BGP" || type === undefined || info === "") return [];
    const isFour = /^\d{1,3}(?:_\d{1,3}){3}(?:_|$)/.test(place);
    const address = place.replaceAll("_", isFour ? "." : ":");
    return [{ address, family: isFour ? 4 : 6, type: types[type as keyof typeof types], state, since, info }];
  });
}

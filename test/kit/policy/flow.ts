// A flow as the recordings write it:  SRC > DST PROTO[:PORT] [| option option ...]
export type ProbedFlow = {
  readonly text: string;
  readonly from: string;
  readonly to: string;
  readonly protocol: "tcp" | "udp" | "icmp" | "sctp" | "ip";
  readonly family: 4 | 6;
  readonly port: number;
  readonly icmp: { readonly type: number; readonly code: number } | undefined;
  /** Another source address than the place's own. */
  readonly source: string | undefined;
  readonly sourcePort: number;
  /** Whether who answered and whom he saw is part of the outcome. */
  readonly isSeen: boolean;
  readonly isOneWay: boolean;
};

export function readFlow(text: string): ProbedFlow {
  const [, from = "", to = "", word = "", six = "", port = "", options = ""] =
    /^(\S+) > (\S+) (tcp|udp|icmp|sctp|ip)(6?)(?::(\S+))?(?: \| (.*))?$/.exec(text) ?? [];
  if (word === "") throw new Error(`not a flow: ${text}`);
  const [type, code] = port.split("/").map(Number);
  const isIcmp = word === "icmp";
  const option = (name: string) => new RegExp(`(?:^| )${name}=(\\S+)`).exec(options)?.[1];
  return {
    text,
    from,
    to,
    protocol: word as ProbedFlow["protocol"], // the pattern has these words only
    family: six === "6" ? 6 : 4,
    port: isIcmp ? 0 : Number(port),
    icmp: isIcmp && port !== "" ? { type: type ?? 0, code: code ?? 0 } : undefined,
    source: option("from"),
    sourcePort: Number(option("sport") ?? 0),
    isSeen: /(?:^| )seen(?: |$)/.test(options),
    isOneWay: /(?:^| )oneway(?: |$)/.test(options),
  };
}

export type Matrix = {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly probes: readonly string[];
};

/** Every flow of a step, each once. */
export function flowsOf(step: {
  readonly flows?: readonly string[];
  readonly matrix?: readonly Matrix[];
}): readonly ProbedFlow[] {
  const crossed = (step.matrix ?? []).flatMap(({ from, to, probes }) =>
    from.flatMap((source) =>
      to.flatMap((target) => (source === target ? [] : probes.map((probe) => `${source} > ${target} ${probe}`))),
    ),
  );
  return [...new Set([...(step.flows ?? []), ...crossed])].map(readFlow);
}

// The numbers of the protocols that rules and ports name.

const protocolNumbers: { readonly [name: string]: number } = {
  icmp: 1,
  tcp: 6,
  udp: 17,
  icmpv6: 58,
  sctp: 132,
  udplite: 136,
};

const nameByNumber = new Map(Object.entries(protocolNumbers).map(([name, number]) => [number, name]));

/** Undefined: no protocol. */
export function protocolNumber(given: unknown): number | undefined {
  if (typeof given === "number") return Number.isInteger(given) && given >= 0 && given <= 255 ? given : undefined;
  if (typeof given !== "string") return undefined;
  const name = given.toLowerCase();
  return Object.hasOwn(protocolNumbers, name) ? protocolNumbers[name] : undefined;
}

export function protocolText(number: number): string {
  return nameByNumber.get(number) ?? `protocol ${number}`;
}

/** Whether rules may ask for its ports: UDP-Lite has some, and rules cannot. */
export function hasPorts(protocol: number): boolean {
  return protocol === 6 || protocol === 17 || protocol === 132;
}

export function isIcmp(protocol: number, family: 4 | 6): boolean {
  return protocol === (family === 4 ? 1 : 58);
}

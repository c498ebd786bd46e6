// What the validation filter demands of any rule, whether as clients read it (rule-problem.ts) or as the user wrote it
// (profile-problem.ts): ICMP, protocols and ports.
import { type NumberOrText, protocolNames } from "../../model/index.ts";
import type { FieldProblem } from "../processor/processor.ts";

type Icmp = { readonly type: number | bigint | undefined; readonly code: number | bigint | undefined };

/** `field` is icmp or notICMP. */
export function icmpProblem({ type, code }: Icmp, field: string): FieldProblem | undefined {
  if (type !== undefined && (type < 0 || type > 254)) return { field: `${field}.type`, rule: "must be from 0 to 254" };
  if (code !== undefined && (code < 0 || code > 255)) return { field: `${field}.code`, rule: "must be from 0 to 255" };
  return undefined;
}

/** `names` are the protocols as the rule has them: as users write them, or in lower case. */
export function protocolProblem(
  protocol: NumberOrText | undefined,
  names: readonly string[],
  field: string,
): FieldProblem | undefined {
  const isBad = typeof protocol === "string" ? !names.includes(protocol) : protocol === 0;
  return isBad ? { field, rule: `must be ${protocolNames.join(", ")} or a number from 1 to 255` } : undefined;
}

const numbersWithPorts: readonly NumberOrText[] = [6, 17, 132];
const namesWithPorts: readonly NumberOrText[] = ["tcp", "udp", "sctp"];

/** The rule that the port breaks; undefined: none. */
export function portRule(port: NumberOrText, protocol: NumberOrText | undefined): string | undefined {
  const isNamed = typeof port === "string" && !port.includes(":");
  if (isNamed && !isPortName(port)) {
    return "must be a port name: up to 15 of a-z, 0-9 and inner -, at least one letter";
  }
  if (!isNamed && !startsAtOne(port)) return "must not include port 0";
  if (protocol === undefined) return isNamed ? undefined : "a port number needs a protocol";
  const hasPorts =
    typeof protocol === "string"
      ? namesWithPorts.includes(protocol.toLowerCase())
      : numbersWithPorts.includes(protocol);
  return hasPorts ? undefined : "ports need protocol TCP, UDP or SCTP";
}

/** Kubernetes' port names. */
export function isPortName(name: string): boolean {
  return /^[a-z0-9-]{1,15}$/.test(name) && /[a-z]/.test(name) && !/^-|-$|--/.test(name);
}

/** Of a port number or a range. */
export function startsAtOne(port: NumberOrText): boolean {
  return typeof port === "number" ? port !== 0 : !port.startsWith("0:");
}

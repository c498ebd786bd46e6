// Policy routing: which table a packet's route is looked up in.
import { ipText, prefixBytes } from "./ip-bytes.ts";
import type { Span } from "./message-reader.ts";
import type { MessageWriter } from "./message-writer.ts";
import { type Named, namesOf, numberOf } from "./names.ts";
import { ruleAttributes as at, type Family, families, familyName } from "./numbers.ts";
import { writeRouteHeader } from "./routes.ts";

const actions = { lookup: 1, goto: 2, nop: 3, blackhole: 6, unreachable: 7, prohibit: 8 } as const;
export type RuleAction = Named<typeof actions>;
const actionName = namesOf(actions);
const flagInvert = 0x2;

export type Rule = {
  readonly family: Family;
  readonly priority: number;
  readonly action: RuleAction;
  readonly table: number;
  readonly from?: string;
  readonly to?: string;
  readonly mark?: number;
  readonly markMask?: number;
  readonly iif?: string;
  readonly oif?: string;
  readonly goto?: number;
  readonly suppressPrefixLength?: number;
  readonly invert?: boolean;
};
export type NewRule = Omit<Rule, "priority" | "action" | "table"> & {
  readonly priority?: number;
  readonly action?: RuleAction;
  readonly table?: number;
};

export function writeRule(out: MessageWriter, rule: NewRule): void {
  const to = rule.to === undefined ? undefined : prefixBytes(rule.to);
  const from = rule.from === undefined ? undefined : prefixBytes(rule.from);
  const table = rule.table ?? 0;
  const start = out.mark();
  // `fib_rule_hdr` has a route's layout; source length is its third byte.
  writeRouteHeader(out, {
    family: rule.family,
    length: to?.length ?? 0,
    table,
    protocol: 0,
    scope: 0,
    type: numberOf(actions, rule.action ?? "lookup"),
    flags: rule.invert === true ? flagInvert : 0,
  });
  out.patchU8(start + 2, from?.length ?? 0);
  if (to !== undefined) out.attribute(at.FRA_DST, to.bytes);
  if (from !== undefined) out.attribute(at.FRA_SRC, from.bytes);
  if (rule.priority !== undefined) out.attributeU32(at.FRA_PRIORITY, rule.priority);
  if (rule.table !== undefined) out.attributeU32(at.FRA_TABLE, table);
  if (rule.mark !== undefined) out.attributeU32(at.FRA_FWMARK, rule.mark);
  if (rule.markMask !== undefined) out.attributeU32(at.FRA_FWMASK, rule.markMask);
  if (rule.iif !== undefined) out.attributeText(at.FRA_IIFNAME, rule.iif);
  if (rule.oif !== undefined) out.attributeText(at.FRA_OIFNAME, rule.oif);
  if (rule.goto !== undefined) out.attributeU32(at.FRA_GOTO, rule.goto);
  if (rule.suppressPrefixLength !== undefined) {
    out.attributeU32(at.FRA_SUPPRESS_PREFIXLEN, rule.suppressPrefixLength);
  }
}

/** `fib_rule_hdr`: as rtmsg, but the eighth byte is the action. */
export function writeRuleDumpHeader(out: MessageWriter, family: Family | undefined): void {
  out.u8(family === undefined ? 0 : families[family]);
  out.raw(new Uint8Array(11));
}

/** Undefined: of a family that has no place here. */
export function readRule(body: Span): Rule | undefined {
  const family = familyName(body.u8());
  const [toLength, fromLength] = [body.u8(1), body.u8(2)];
  const flags = body.u32(8);
  if (family === undefined || family === "bridge") return undefined;
  const rule: { -readonly [key in keyof Rule]: Rule[key] } = {
    family,
    priority: 0,
    action: actionName(body.u8(7)),
    table: body.u8(4),
  };
  body.from(12).attributes((type, value) => {
    if (type === at.FRA_PRIORITY) rule.priority = value.u32();
    else if (type === at.FRA_TABLE) rule.table = value.u32();
    else if (type === at.FRA_DST) rule.to = `${ipText(value.borrow())}/${toLength}`;
    else if (type === at.FRA_SRC) rule.from = `${ipText(value.borrow())}/${fromLength}`;
    else if (type === at.FRA_FWMARK) rule.mark = value.u32();
    else if (type === at.FRA_FWMASK) rule.markMask = value.u32();
    else if (type === at.FRA_IIFNAME) rule.iif = value.text();
    else if (type === at.FRA_OIFNAME) rule.oif = value.text();
    else if (type === at.FRA_GOTO) rule.goto = value.u32();
    else if (type === at.FRA_SUPPRESS_PREFIXLEN && value.i32() >= 0) rule.suppressPrefixLength = value.u32();
  });
  if ((flags & flagInvert) !== 0) rule.invert = true;
  return rule;
}

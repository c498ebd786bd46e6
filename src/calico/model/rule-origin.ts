// Which rule of an object a rule that nodes have comes from. Kubernetes' policies have more rules once converted than were written: one for
// each protocol and peer.

export type RuleOrigin = {
  /** Its place in the object's list, from 1. */
  readonly rule: number;
  /** Where that is: spec.ingress[1], or spec.ingress[1].from[0] where the rule has several peers. */
  readonly field: string;
};

/** In the order of the rules that nodes have. */
export type RuleOrigins = { readonly ingress: readonly RuleOrigin[]; readonly egress: readonly RuleOrigin[] };

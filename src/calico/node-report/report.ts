// The report's format: JSON over HTTPS, three paths. What is not known is left out or empty; a reader skips what it does not know, so that fields may
// be added without a new number.

export const reportPaths = {
  /** NodeReport: small, asked of every node while somebody looks at the list. */
  node: "/report",
  /** RouteRow[]: asked of the node whose page is open. */
  routes: "/report/routes",
  /** PolicyHit[]: asked while somebody looks at the policies. */
  policies: "/report/policies",
} as const;

export type NodeReport = {
  readonly node: string;
  /** Program and version, as it says it: "cattail v1.2.3". */
  readonly version: string;
  readonly startedAtMs: number;
  readonly live: boolean;
  readonly ready: boolean;
  readonly components: readonly ComponentReport[];
  /** One for each family that BIRD is asked about; empty where no BIRD is used. */
  readonly bgp: readonly BgpDaemon[];
  /** Null: no part here keeps routes. */
  readonly routes: { readonly right: number; readonly wrong: number; readonly first: string } | null;
  /** What the last audit of addresses on this node found, by its codes; null: none was made here. */
  readonly audit: AuditReport | null;
};

export type AuditReport = {
  readonly atMs: number;
  readonly findings: number;
  /** The first of them, in words. */
  readonly says: readonly string[];
};

export type ComponentReport = {
  readonly name: string;
  readonly isLive: boolean;
  readonly isReady: boolean;
  readonly detail: string;
};

export type BgpDaemon = {
  readonly family: 4 | 6;
  /** Why BIRD does not answer; empty: it does. */
  readonly silent: string;
  readonly version: string;
  readonly routerId: string;
  readonly bootTime: string;
  readonly reconfiguredTime: string;
  readonly sessions: readonly BgpSession[];
};

export type BgpSession = {
  readonly address: string;
  /** Mesh, Node, Global. */
  readonly kind: string;
  /** Of BGP: Established, Active. */
  readonly state: string;
  /** In BIRD's words: a time of today, or a date. */
  readonly since: string;
};

/**
 * `right`: as it should be. `other`: BIRD has one by another way, which behind a router may well be right. `missing`, `wrong`: packets do not
 * arrive. `waiting`: another node has not said yet what is needed.
 */
export type RouteState = "right" | "other" | "missing" | "wrong" | "waiting";

export type RouteRow = {
  readonly destination: string;
  /** The node that has it. */
  readonly node: string;
  readonly expected: string;
  readonly actual: string;
  readonly state: RouteState;
  readonly why: string;
};

export function isRouteBad(state: RouteState): boolean {
  return state === "missing" || state === "wrong";
}

export type PolicyHit = {
  /** "GlobalNetworkPolicy default.x", "NetworkPolicy shop/default.y", "profile kns.red"; empty: what no policy has decided. */
  readonly policy: string;
  /** From 1; 0: of no rule. */
  readonly rule: number;
  readonly direction: "ingress" | "egress" | "";
  /** allow, deny, reject, pass, or empty. */
  readonly action: string;
  readonly packets: number;
  readonly bytes: number;
  /** Why, where no policy is the reason. */
  readonly reason: string;
};

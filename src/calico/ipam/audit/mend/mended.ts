// What became of a finding.
import type { Pool } from "../../pools.ts";
import type { Finding } from "../finding.ts";

export type Mended =
  | { readonly is: "mended" }
  /** It is not as the audit saw it. */
  | { readonly is: "changed"; readonly says: string }
  /** It is so, and must stay so. */
  | { readonly is: "left"; readonly says: string }
  | { readonly is: "failed"; readonly error: unknown };

export type MendResult = { readonly finding: Finding; readonly outcome: Mended };

export type MendOptions = { readonly pools: readonly Pool[]; readonly cooldownSeconds: number };

// The audit on a datastore as two functions, for whoever runs it again and again: `read` what there is, and `mend` what was found.
import { type Audited, type Finding, type MendResult, mendFindings } from "../ipam/index.ts";
import { openIpamAccess } from "../ipam-client/index.ts";
import { openAsker } from "./ask.ts";
import { carryOutMending } from "./carry-out-mending.ts";
import { type AuditSources, readAudited } from "./read-audited.ts";
import { loadBalancersOf } from "./services.ts";

export type AuditorSources = Omit<AuditSources, "facts" | "loadBalancers"> & {
  /** At least 0, below 1. */
  readonly random: () => number;
};

export type Auditor = {
  read(): Promise<Audited>;
  /** Only what is ripe belongs here. */
  mend(findings: readonly Finding[], audited: Audited): Promise<readonly MendResult[]>;
};

export function openAuditor({ random, ...sources }: AuditorSources): Auditor {
  const { datastore, resources, clock, signal } = sources;
  const access = openIpamAccess(datastore, { clock, random });
  const ask = openAsker(sources);
  return {
    async read() {
      const loadBalancers = await loadBalancersOf(resources, signal);
      return (await readAudited({ ...sources, facts: access, loadBalancers })).audited;
    },
    async mend(findings, { pools }) {
      const { cooldownSeconds } = await access.config({ signal });
      return await carryOutMending(mendFindings(findings, { pools, cooldownSeconds }), { access, ask }, { signal });
    },
  };
}

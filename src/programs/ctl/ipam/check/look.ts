// One look at everything that an audit wants to see, and what it makes of it.
import { systemClock } from "../../../../base/lib/index.ts";
import type { Datastore } from "../../../../calico/datastore/index.ts";
import { type AuditReport, audit } from "../../../../calico/ipam/index.ts";
import { loadBalancersOf, type ReadForAudit, readAudited } from "../../../../calico/ipam-audit/index.ts";
import { openIpamAccess } from "../../../../calico/ipam-client/index.ts";
import type { Connection } from "../../connection.ts";

export type Looked = ReadForAudit & { readonly report: AuditReport; readonly services: Datastore };

export async function look(
  { datastore, resources }: Connection,
  services: Datastore,
  signal: AbortSignal,
): Promise<Looked> {
  const edge = { clock: systemClock, random: Math.random };
  const facts = openIpamAccess(datastore, edge);
  const loadBalancers = await loadBalancersOf(resources, signal);
  const read = await readAudited({ datastore, resources, facts, services, loadBalancers, clock: systemClock, signal });
  return { ...read, report: audit(read.audited), services };
}

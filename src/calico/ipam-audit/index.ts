// The audit of address management on a datastore: reads what calico/ipam/audit looks at, and carries out what it mends.

export { type AskSources, openAsker } from "./ask.ts";
export { type AuditEveryOptions, type AuditFigure, type AuditRound, auditEvery, auditMetrics } from "./audit-every.ts";
export type { AuditPace } from "./audit-schedule.ts";
export { carryOutMending, type MendingAccess } from "./carry-out-mending.ts";
export { type Auditor, type AuditorSources, openAuditor } from "./open-auditor.ts";
export type { PodUse } from "./pod-use.ts";
export { type AuditSources, type ReadForAudit, readAudited } from "./read-audited.ts";
export { type LoadBalancers, loadBalancersOf } from "./services.ts";

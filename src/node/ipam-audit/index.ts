// The slow background check of address management, as a part of the agent.
export { findingCodeNames, ipamAuditMetrics, ipamAuditPart } from "./audit-part.ts";

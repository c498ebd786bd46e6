// Profile: rules and labels that endpoints inherit. Stored in etcd only; Kubernetes has namespaces and service accounts.
import { list, map, type SchemaType, struct, text } from "../schema.ts";
import { rule } from "./rule.ts";

export const profileSpec = struct({ ingress: list(rule), egress: list(rule), labelsToApply: map(text()) });
export type ProfileSpec = SchemaType<typeof profileSpec>;

// Profile: rules and labels that endpoints inherit. Stored in etcd and in folders; Kubernetes has namespaces and service accounts.

import { isRecord } from "../../../base/lib/index.ts";
import { lazy, list, map, type SchemaType, sortByUtf8, struct, text } from "../../model/index.ts";
import { each, fields } from "../checks/check.ts";
import { labels as labelsTag } from "../checks/tags.ts";
import { type Column, nameCell, valueAt } from "../columns.ts";
import { etcdKind, specChecks } from "../kind.ts";
import { rule } from "../policy/rule.ts";
import { ruleChecks } from "../policy/rule-checks.ts";

export const profileSpec = lazy(() => struct({ ingress: list(rule), egress: list(rule), labelsToApply: map(text()) }));
export type ProfileSpec = SchemaType<typeof profileSpec>;

const labelsCell: Column = {
  heading: "LABELS",
  cell: (object) => {
    const labels = valueAt(object, "spec.labelsToApply");
    const pairs = isRecord(labels) ? Object.entries(labels) : [];
    return sortByUtf8(pairs.map(([name, value]) => `${name}=${String(value)}`)).join(",");
  },
};

export const profile = etcdKind("Profile", {
  carries: "enforcement",
  names: ["profile", "profiles", "pro", "pros"],
  columns: { ps: [nameCell], wide: [nameCell, labelsCell] },
  schema: { spec: profileSpec },
  checks: specChecks(() =>
    fields<ProfileSpec>({
      ingress: each(ruleChecks),
      egress: each(ruleChecks),
      labelsToApply: labelsTag,
    }),
  ),
});

// Profiles as etcd stores them. The default one is always what it is, whatever is stored under its name: that is what the
// original's list shows.
import { type ProfileSpec, profileSpec, specProblems } from "../../kinds/index.ts";
import { FieldError, goMap, goString, v1ProfileRules } from "../../model/index.ts";
import { metadataProblem } from "../object/metadata-rules.ts";
import { type Resource, readResource, writeResource } from "../object/resource.ts";
import { convertRules } from "../policy/rule.ts";
import { rulesProblem } from "../policy/rule-problem.ts";
import { keyless, unreadable } from "../processor/keyed-processor.ts";
import { attempt, objectName, type Processor, refused, type Warning } from "../processor/processor.ts";
import { defaultAllowKvs, defaultAllowProfile } from "./namespace.ts";
import { profileDeletions, profileKvs } from "./profile-kvs.ts";

export function createProfileProcessor(): Processor {
  return {
    set: (id, revision, value) => {
      const object = objectName("Profile", id);
      if (id.name === "") return keyless(object);
      if (id.name === defaultAllowProfile) return { kvs: defaultAllowKvs, problems: [] };
      const read = attempt(() => convert(readResource("Profile", profileSpec, value)));
      if (read instanceof FieldError) return unreadable(object, profileDeletions(id.name), read);
      const { values, v3ResourceVersion, problem, ofRules, warnings } = read;
      const version = {
        revision,
        v3ResourceVersion,
        areRulesInvalid: ofRules !== undefined,
        isResourceInvalid: problem !== undefined,
      };
      const found = [...warnings];
      if (ofRules !== undefined && ofRules.field !== problem?.field) found.push({ ...ofRules, effect: "dropped" });
      if (problem !== undefined) found.push(refused(problem));
      return {
        kvs: profileKvs(id.name, values, version),
        problems: found.map((warning) => ({ object, ...warning })),
      };
    },
    delete: (id) => {
      if (id.name === defaultAllowProfile) return { kvs: defaultAllowKvs, problems: [] };
      return { kvs: id.name === "" ? [] : profileDeletions(id.name), problems: [] };
    },
  };
}

function convert({ metadata, spec }: Resource<ProfileSpec>) {
  const warnings: Warning[] = [];
  const labels = spec.labelsToApply ?? {};
  const inbound = convertRules(spec.ingress, { namespace: "", field: "spec.ingress", warnings });
  const outbound = convertRules(spec.egress, { namespace: "", field: "spec.egress", warnings });
  return {
    values: {
      labels: Object.keys(labels).length === 0 ? undefined : goMap(goString).write(labels),
      rules: v1ProfileRules.write({ inbound_rules: inbound, outbound_rules: outbound }),
      resource: writeResource("Profile", metadata, { spec: profileSpec.go.write(spec) }),
    },
    v3ResourceVersion: metadata.resourceVersion ?? "",
    problem: metadataProblem(metadata) ?? specProblems("Profile", spec)[0],
    /** The rules are checked by themselves, as clients read them. */
    ofRules: rulesProblem(inbound, "spec.ingress") ?? rulesProblem(outbound, "spec.egress"),
    warnings,
  };
}

// Kubernetes' NetworkPolicies: turned into Calico's, then into what clients read. A rule that cannot be converted is left
// out and named, and the rest is sent: that is what the original's list shows (its watch stalls over it).
import {
  cleanJson,
  FieldError,
  keyToPath,
  kubernetesNetworkPolicySpec,
  member,
  readSchema,
  recordOf,
} from "../model/index.ts";
import { attempt } from "./attempt.ts";
import { deletion } from "./converted.ts";
import { kubernetesPolicySpec } from "./kubernetes-policy.ts";
import { convertPolicy } from "./policy.ts";
import { objectName, type Processor, type ProcessorId } from "./processor.ts";
import { keyless, toOutput, unreadable } from "./simple-processor.ts";
import { requireUid } from "./uid.ts";
import { readMetadata } from "./whole-object.ts";

const kind = "KubernetesNetworkPolicy";
const pathOf = ({ namespace, name }: ProcessorId) => keyToPath({ is: "Policy", kind, namespace, name });

export function createKubernetesNetworkPolicyProcessor(): Processor {
  return {
    set: (id, revision, value) => {
      const object = objectName("NetworkPolicy.networking.k8s.io", id);
      const path = pathOf(id);
      if (path === undefined) return keyless(object);
      const read = attempt(() => readPolicy(value));
      if (read instanceof FieldError) return unreadable(object, [deletion(path)], read);
      const { spec, warnings } = kubernetesPolicySpec(read);
      const output = toOutput(convertPolicy({ spec, namespace: id.namespace }), {
        object,
        path,
        revision,
        v3ResourceVersion: "",
      });
      return { ...output, problems: [...warnings.map((warning) => ({ object, ...warning })), ...output.problems] };
    },
    delete: (id) => {
      const path = pathOf(id);
      return { kvs: path === undefined ? [] : [deletion(path)], problems: [] };
    },
  };
}

function readPolicy(value: unknown) {
  const object = recordOf(value, "");
  requireUid(readMetadata(object).uid);
  return readSchema(kubernetesNetworkPolicySpec, cleanJson(member(object, "spec") ?? {}, "spec"), "spec");
}

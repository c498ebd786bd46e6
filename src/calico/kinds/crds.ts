// The custom resource definitions of Calico's kinds, made from their schemas. `cattail manifests` prints them; the tests
// install them in a real API server (test/system/crds.test.ts), where they must accept, refuse and default as Calico's do.
import type { CrdSchema } from "../model/index.ts";
import type { CalicoGroup, NewGroup } from "./kind.ts";
import { type CustomKind, customResourceInfo } from "./registry.ts";

/** What the group says of the kind that the old one does not. */
function differenceOf(kind: CustomKind, group: CalicoGroup): NewGroup {
  return (group === "projectcalico.org" ? customResourceInfo(kind).newGroup : undefined) ?? {};
}

/** The OpenAPI schema of a whole object, as a CRD holds it. */
export function crdSchema(kind: CustomKind, group: CalicoGroup = "crd.projectcalico.org"): CrdSchema {
  const { spec, status, crd } = customResourceInfo(kind).schema;
  const properties = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: withMembers(spec.crd, differenceOf(kind, group).spec ?? {}),
    ...(status === undefined ? {} : { status: status.crd }),
  };
  const required = group === "projectcalico.org" ? { required: ["metadata", "spec"] } : {};
  return { type: "object", properties, ...required, ...crd };
}

/** The schema of a struct with more said of some of its members. */
function withMembers(schema: CrdSchema, members: { readonly [name: string]: CrdSchema }): CrdSchema {
  const properties = { ...(schema.properties as { readonly [name: string]: CrdSchema }) }; // every spec is a struct
  for (const [name, more] of Object.entries(members)) properties[name] = { ...properties[name], ...more };
  return { ...schema, properties };
}

/** The CustomResourceDefinition, ready to be applied. */
export function crdManifest(
  name: CustomKind,
  group: CalicoGroup = "crd.projectcalico.org",
): { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown } {
  const { schema, kubernetes, namespaced } = customResourceInfo(name);
  const { shortNames, columns, selectable } = differenceOf(name, group);
  const renamed = group === "projectcalico.org" ? kubernetes.inNewGroup : undefined;
  const { kind, plural } = renamed ?? { kind: name, plural: kubernetes.plural };
  const singular = kind.toLowerCase();
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular, ...(shortNames === undefined ? {} : { shortNames }) },
      scope: namespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          name: group === "projectcalico.org" ? "v3" : "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: crdSchema(name, group) },
          ...(schema.status === undefined ? {} : { subresources: { status: {} } }),
          ...(columns === undefined ? {} : { additionalPrinterColumns: columns.map(printerColumn) }),
          ...(selectable === undefined ? {} : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
        },
      ],
    },
  };
}

function printerColumn([name, jsonPath, type]: readonly [string, string, string]): object {
  return { name, jsonPath, type };
}

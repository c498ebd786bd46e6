// Where a datastore holds every kind (a folder), two objects may claim one key: a Pod, whose endpoint is a view of it, and a stored
// WorkloadEndpoint of the same name; likewise Namespace or ServiceAccount and Profile, VirtualMachineInstanceMigration and LiveMigration. The
// stored one wins as long as it is there, also where it is invalid or has nothing to say; when it goes, the view is sent again.
//
//   view    ──▶ ┌ path: { stored, view } ┐ ──▶ what is sent of the path, where that is another now
//   stored  ──▶ └────────────────────────┘
import type { ConvertedKv } from "../convert/index.ts";
import type { Kind } from "../kinds/index.ts";

export type Layer = "stored" | "view";

type Claim = { readonly kind: Kind; readonly kv: ConvertedKv };
type Claims = { readonly stored?: Claim | undefined; readonly view?: Claim | undefined };

export class StoredOverView {
  readonly #paths = new Map<string, Claims>();

  /** What is sent, given what one of the kinds has to say of an object that is set or deleted. */
  take(
    kvs: readonly ConvertedKv[],
    { kind, layer, isSet }: { kind: Kind; layer: Layer; isSet: boolean },
  ): readonly ConvertedKv[] {
    return kvs.flatMap((kv) => {
      const known = this.#paths.get(kv.path);
      const claim = isSet && (layer === "stored" || !isDeletion(kv)) ? { kind, kv } : undefined;
      const claims: Claims = { stored: known?.stored, view: known?.view, [layer]: claim };
      const top = claims.stored ?? claims.view;
      if (top === undefined) this.#paths.delete(kv.path);
      else this.#paths.set(kv.path, claims);
      if (layer === "view" && claims.stored !== undefined) return [];
      return [top?.kv ?? kv]; // the object is gone: a deletion, or what is there without it
    });
  }

  /** How many keys are sent of the kind's objects. */
  count(kind: Kind): number {
    let count = 0;
    for (const { stored, view } of this.#paths.values()) {
      const top = stored ?? view;
      if (top?.kind === kind && !isDeletion(top.kv)) count += 1;
    }
    return count;
  }
}

function isDeletion({ value, isInvalid }: ConvertedKv): boolean {
  return value === undefined && isInvalid !== true;
}

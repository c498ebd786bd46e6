// What `label` changes and says, of an object as it is. The texts are the original's.
import type { V3Object } from "../../../../calico/resources/index.ts";
import { CtlError } from "../../console.ts";

export type LabelOptions = { readonly removes: boolean; readonly overwrites: boolean };
export type LabelChange = { readonly key: string; readonly value: string };

/** Of KEY=VALUE, or of KEY where labels are removed. Throws CtlError. */
export function readLabels(words: readonly string[], { removes }: LabelOptions): readonly LabelChange[] {
  return words.map((word) => {
    if (removes) return { key: word, value: "" };
    const at = word.indexOf("=");
    if (at < 0) throw new CtlError(`invalid label ${word}`);
    return { key: word.slice(0, at), value: word.slice(at + 1) };
  });
}

/** `what` is the object as it was typed: "node n1". Throws CtlError for what is refused. */
export function relabelled(
  object: V3Object,
  changes: readonly LabelChange[],
  { what, removes, overwrites }: LabelOptions & { readonly what: string },
): { readonly object: V3Object; readonly says: readonly string[] } {
  const labels = new Map(Object.entries(object.metadata.labels ?? {}));
  const says = changes.map(({ key, value }) => {
    const before = labels.get(key);
    if (removes) {
      if (before === undefined) throw new CtlError(`cannot remove label of ${what}, key ${key} does not exist`);
      labels.delete(key);
      return `Successfully removed label ${key} from ${what}`;
    }
    if (before !== undefined && before !== value && !overwrites) {
      const next = "please use '--overwrite' to set a new value";
      throw new CtlError(`failed to update label of ${what}, key ${key} is already present. ${next}`);
    }
    labels.set(key, value);
    return `Successfully ${before === undefined ? "set" : "updated"} label ${key} on ${what}`;
  });
  return { object: { ...object, metadata: { ...object.metadata, labels: Object.fromEntries(labels) } }, says };
}

// What has changed between what a watcher knows and what it is told. Pure: state in, state and changes out.
import type { ResourceEvent, V3Object } from "../../../../calico/resources/index.ts";

/** In the words of Kubernetes' watches, which scripts know. */
export type Change = { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: V3Object };

export type Known = ReadonlyMap<string, V3Object>;

const keyOf = (namespace = "", name = "") => `${namespace}/${name}`;

/** After a list: all that is new, different or gone. */
export function afterList(known: Known, items: readonly V3Object[]): { known: Known; changes: readonly Change[] } {
  const now = new Map(items.map((object) => [keyOf(object.metadata.namespace, object.metadata.name), object]));
  const gone = [...known].flatMap(([key, object]): Change[] => (now.has(key) ? [] : [{ type: "DELETED", object }]));
  const set = [...now].flatMap(([key, object]): Change[] => {
    const before = known.get(key);
    if (before === undefined) return [{ type: "ADDED", object }];
    const isSame = before.metadata.resourceVersion === object.metadata.resourceVersion;
    return isSame ? [] : [{ type: "MODIFIED", object }];
  });
  return { known: now, changes: [...gone, ...set] };
}

/** After an event of a watch. An object that cannot be read any more is not gone: what was known of it stays. */
export function afterEvent(known: Known, event: ResourceEvent): { known: Known; changes: readonly Change[] } {
  switch (event.is) {
    case "bookmark":
    case "unreadable":
      return { known, changes: [] };
    case "set": {
      const { object } = event;
      const key = keyOf(object.metadata.namespace, object.metadata.name);
      const type = known.has(key) ? "MODIFIED" : "ADDED";
      return { known: new Map(known).set(key, object), changes: [{ type, object }] };
    }
    case "delete": {
      const key = keyOf(event.id.namespace, event.id.name);
      const object = known.get(key);
      if (object === undefined) return { known, changes: [] };
      const left = new Map(known);
      left.delete(key);
      return { known: left, changes: [{ type: "DELETED", object }] };
    }
  }
}

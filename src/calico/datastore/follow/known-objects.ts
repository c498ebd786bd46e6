// What a follower remembers of a kind: which objects it has announced, and at which revision. Never their content: at
// 150,000 pods the content would be most of the process's memory, and nobody asks for it here.
import type { ListPage, ObjectId, Revision, StoredObject } from "../datastore.ts";
import { idOfText, idText } from "../object-id.ts";
import type { FollowEvent } from "./follow-event.ts";

export class KnownObjects {
  readonly #revisions = new Map<string, Revision>();
  /** Ids met by the list under way; undefined between lists. */
  #listed: Set<string> | undefined;

  get size(): number {
    return this.#revisions.size;
  }

  /** A list starts from its beginning; what an earlier, broken-off one had met counts no more. */
  startList(): void {
    this.#listed = new Set();
  }

  /** The page's objects that are new or changed. */
  absorbPage(page: ListPage): FollowEvent[] {
    const events: FollowEvent[] = [];
    for (const object of page.items) {
      this.#listed?.add(idText(object.id));
      if (this.absorb(object)) events.push({ is: "set", object, origin: "list" });
    }
    // What is met no more is deleted with the rest at the end: the list may yet say that it is back.
    for (const id of page.gone ?? []) this.#listed?.delete(idText(id));
    return events;
  }

  /** Deletions of what the whole list did not mention. Only ever called once a list is complete. */
  endList(): FollowEvent[] {
    const listed = this.#listed ?? new Set();
    const events: FollowEvent[] = [];
    for (const key of this.#revisions.keys()) {
      if (listed.has(key)) continue;
      this.#revisions.delete(key);
      events.push({ is: "delete", id: idOfText(key) });
    }
    this.#listed = undefined;
    return events;
  }

  /** Whether the object says something that was not said before. */
  absorb(object: StoredObject): boolean {
    const key = idText(object.id);
    if (this.#revisions.get(key) === object.revision) return false;
    this.#revisions.set(key, object.revision);
    return true;
  }

  /** Whether it was there. */
  forget(id: ObjectId): boolean {
    return this.#revisions.delete(idText(id));
  }
}

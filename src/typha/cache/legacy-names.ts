// What clients up to v3.31 are told instead: they know policies by tier and name, and some policies not at all.
// Each update becomes what both kinds of clients, or each of the two, are to hear; an old name that no longer holds is
// taken back. Two policies whose legacy names collide take turns: the last change wins, and only its going deletes.
import { type KvUpdate, updateType } from "../../calico/model/basics.ts";
import type { Audience } from "./entry.ts";

/** The update as legacy clients know it: itself where nothing differs, undefined where they cannot be told. */
export type LegacyForm = (update: KvUpdate) => KvUpdate | undefined;

/** `isTakenBack`: the audience may know the key from a time when it was said to both, so it must hear the deletion. */
export type Said = { readonly audience: Audience; readonly update: KvUpdate; readonly isTakenBack?: true };

export class LegacyNames {
  readonly #legacyForm: LegacyForm;
  readonly #nameOf = new Map<string, string>();
  readonly #ownerOf = new Map<string, string>();

  constructor(legacyForm: LegacyForm) {
    this.#legacyForm = legacyForm;
  }

  /** `isSaidToBoth`: the last that was said of the key, be it its deletion, was said to both kinds of clients. */
  split(update: KvUpdate, isSaidToBoth: boolean): readonly Said[] {
    const legacy = this.#legacyForm(update);
    const oldName = this.#nameOf.get(update.path);
    if (legacy === update) {
      const said: Said[] = [{ audience: "both", update }];
      if (oldName !== undefined) said.unshift(...this.#takeBack(update.path, oldName));
      return said;
    }
    const said: Said[] = [{ audience: "modern", update }];
    if (isSaidToBoth) said.push({ audience: "legacy", update: deletionOf(update.path), isTakenBack: true });
    const newName = update.value === undefined ? undefined : legacy?.path;
    if (oldName !== undefined && oldName !== newName) said.push(...this.#takeBack(update.path, oldName));
    if (newName !== undefined && legacy !== undefined) {
      this.#nameOf.set(update.path, newName);
      this.#ownerOf.set(newName, update.path);
      said.push({ audience: "legacy", update: legacy });
    }
    return said;
  }

  #takeBack(path: string, name: string): Said[] {
    this.#nameOf.delete(path);
    if (this.#ownerOf.get(name) !== path) return [];
    this.#ownerOf.delete(name);
    return [{ audience: "legacy", update: deletionOf(name) }];
  }
}

function deletionOf(path: string): KvUpdate {
  return { path, value: undefined, revision: "", v3ResourceVersion: "", type: updateType.deleted };
}

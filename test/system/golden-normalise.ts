// Makes two runs comparable: versions and UIDs that the API server gave out become the placeholders of the recordings,
// in the order in which its answers showed them; times that no case wrote become one.
import type { ExpectedKv } from "../conformance/golden-case.ts";
import type { ApiObject } from "./golden-apply.ts";

const profiles = "/calico/resources/v3/projectcalico.org/profiles/";
const time = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const uid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

export class Normaliser {
  readonly #stepsText: string;
  readonly #versions = new Map<string, string>();
  readonly #uids = new Map<string, string>();
  #uidCount = 0;

  constructor(stepsText: string) {
    this.#stepsText = stepsText;
  }

  /** Takes note of an answer to a write. */
  learn(answer: ApiObject): void {
    const isStatus = answer.kind === "Status";
    const version = isStatus ? undefined : answer.metadata.resourceVersion;
    const id = isStatus ? Object(answer.details).uid : answer.metadata.uid;
    if (typeof version === "string" && !this.#versions.has(version)) {
      this.#versions.set(version, `<rv:${this.#versions.size + 1}>`);
    }
    if (typeof id !== "string" || id.match(uid)?.[0] !== id || this.#uids.has(id)) return;
    this.#uidCount += 1;
    this.#uids.set(id, `<uid:${this.#uidCount}>`);
    this.#uids.set(reverseUid(id), `<uid:${this.#uidCount}:rev>`);
  }

  kv({ key, value, revision, v3rv, type }: ExpectedKv): ExpectedKv {
    return {
      key: this.#text(key),
      value: value === null ? null : this.#text(value),
      revision: this.#revision(revision),
      v3rv: key.startsWith(profiles) && value !== null ? "<any>" : this.#revision(v3rv),
      type,
    };
  }

  #revision(text: string): string {
    return text.replaceAll(/\d+/g, (version) => this.#versions.get(version) ?? "<rv>");
  }

  #text(text: string): string {
    return text
      .replaceAll(uid, (id) => this.#uids.get(id) ?? id)
      .replaceAll(time, (at) => (this.#stepsText.includes(at) ? at : "<time>"))
      .replaceAll(/("resourceVersion":")(\d+)(")/g, (_, before, version, after) => {
        return `${before}${this.#revision(version)}${after}`;
      });
  }
}

/** The second UID that Calico derives: the bits of every byte reversed, but for the seventh and the ninth. */
function reverseUid(text: string): string {
  const bytes = Buffer.from(text.replaceAll("-", ""), "hex").map((byte, at) =>
    at === 6 || at === 8 ? byte : Number.parseInt([...byte.toString(2).padStart(8, "0")].reverse().join(""), 2),
  );
  return Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

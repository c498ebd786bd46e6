// The message that bench/gob measures: the same types as benchMessage in test/vectors/make/gob/bench.go.
import { bytes, int, interface_, type Schema, slice, string, struct, uint } from "../../src/base/gob/index.ts";

export const Update = struct("Update", {
  Key: string(),
  Value: bytes(),
  Revision: interface_(),
  ResourceVersion: string(),
  TTL: int({ as: "bigint" }),
  Type: uint({ bits: 8 }),
});

/** The envelope around updates, which are encoded in place or, with raw(Update), beforehand. */
export function envelopeOf<T>(update: Schema<T>) {
  const Updates = struct("Updates", { KVs: slice(update) });
  return struct("Envelope", { Message: interface_({ "example.com/msg.Updates": Updates }) });
}

// Go's []byte as a string: the same bytes on the wire as bytes(), read and written as text.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { bytes, decoder, encoder, string, struct, textBytes } from "./index.ts";

const asText = struct("Note", { Body: textBytes() });
const asBytes = struct("Note", { Body: bytes() });
const asString = struct("Note", { Body: string() });
const texts = ["", "a", "größe 漢字", "x".repeat(70_000)];

for (const text of texts) {
  test(`text of ${text.length} characters is written as its bytes would be`, () => {
    const raw = new TextEncoder().encode(text);
    deepEqual(encoder(asText).encode({ Body: text }), encoder(asBytes).encode({ Body: raw }));
  });
  test(`bytes of ${text.length} characters are read as text`, () => {
    const [note] = decoder(asText).push(encoder(asBytes).encode({ Body: new TextEncoder().encode(text) }));
    equal(note?.Body, text);
  });
}

test("a string on the wire is not bytes, whatever it becomes here", () => {
  throws(() => decoder(asText).push(encoder(asString).encode({ Body: "x" })), { code: "GOB_TYPE_MISMATCH" });
});

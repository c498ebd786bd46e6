// Whole conversations with a real server, recorded byte for byte (test/vectors/wire): what the gob streams in them hold
// must be what the Go client that recorded them printed.
import { deepEqual, equal } from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { gobTypes } from "../../../test/kit/gob-types.ts";
import { decoder } from "./index.ts";

const folder = "test/vectors/wire";
const prefix = "github.com/projectcalico/typha/pkg/syncproto.";
const schema = gobTypes.get("Envelope");
if (schema === undefined) throw new Error("no schema for Envelope");
const Envelope = schema;

type Message = { type: string; value: Record<string, unknown> };
type Update = { Key: string; Value: Uint8Array; Revision: { value: string } | null; TTL: bigint; UpdateType: number };

function messagesIn(file: string): Message[] {
  const stream = decoder(Envelope);
  const values = stream.push(readFileSync(`${folder}/${file}`));
  stream.end();
  // The schema above says what they are.
  return values.map((value) => (value as { Message: Message }).Message);
}

/** The events file has a line per update; the streams hold the same updates in messages of several. */
function eventsIn(name: string): Record<string, unknown>[] {
  const lines = readFileSync(`${folder}/${name}.events.jsonl`, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

const compressed = ["felix", "bgp", "tunnel", "node-status"].map((syncer) => `${syncer}-modern-compressed`);
const plain = ["felix-no-compression", "felix-no-restart", "felix-empty-type"];

describe("what a real server sent", () => {
  for (const name of [...compressed, ...plain]) {
    test(name, () => {
      const segments = [0, 1, 2].map((n) => `${name}.seg${n}.gob`).filter((file) => existsSync(`${folder}/${file}`));
      const files = segments.length > 0 ? segments : [`${name}.recv.bin`];
      const messages = files.flatMap(messagesIn);
      const updates = messages.flatMap(({ value }) => (value.KVs ?? []) as Update[]);
      const printed = eventsIn(name).flatMap((event) => (event.kv === undefined ? [] : [event.kv as PrintedUpdate]));
      deepEqual(
        updates.map(asPrinted),
        printed.map(({ key, value, revision, ttl, type }) => ({ key, value, revision, ttl, type })),
      );
      equal(messages[0]?.type, `${prefix}MsgServerHello`);
    });
  }
});

type PrintedUpdate = { key: string; value: string | null; revision: string; ttl: number; type: number };

function asPrinted(update: Update): PrintedUpdate {
  return {
    key: update.Key,
    // A deletion has no bytes; the client prints null for it.
    value: update.Value.length === 0 ? null : new TextDecoder().decode(update.Value),
    revision: update.Revision?.value ?? "",
    ttl: Number(update.TTL),
    type: update.UpdateType,
  };
}

describe("what a Go client sent", () => {
  for (const name of [...compressed, ...plain, "reject-legacy-keys", "reject-unknown-type"]) {
    test(name, () => {
      const [hello, ...rest] = messagesIn(`${name}.sent.bin`);
      equal(hello?.type, `${prefix}MsgClientHello`);
      const kinds = new Set(rest.map(({ type }) => type.slice(prefix.length)));
      for (const kind of kinds) equal(["MsgACK", "MsgPong"].includes(kind), true);
    });
  }
});

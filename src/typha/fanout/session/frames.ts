// The small messages of the streaming phase as bytes, made once for all clients that hear them in the same moment.

import type { SyncStatus } from "../../../calico/model/basics.ts";
import type { Compression } from "../../cache/index.ts";
import { frame, type ServerStreams, type WireTime } from "../../wire/index.ts";

export class SharedFrames {
  readonly #streams: ServerStreams;
  readonly #statuses = new Map<string, Uint8Array>();
  readonly #pings = new Map<Compression, Uint8Array>();
  #pingWallMs = Number.NaN;

  constructor(streams: ServerStreams) {
    this.#streams = streams;
  }

  status(status: SyncStatus, compression: Compression): Uint8Array {
    const key = `${status} ${compression}`;
    let bytes = this.#statuses.get(key);
    if (bytes === undefined) {
      bytes = this.#pack(frame({ is: "syncStatus", syncStatus: status }), compression);
      this.#statuses.set(key, bytes);
    }
    return bytes;
  }

  ping(wallMs: number, compression: Compression): Uint8Array {
    if (wallMs !== this.#pingWallMs) this.#pings.clear();
    this.#pingWallMs = wallMs;
    let bytes = this.#pings.get(compression);
    if (bytes === undefined) {
      bytes = this.#pack(frame({ is: "ping", timestamp: toWireTime(wallMs) }), compression);
      this.#pings.set(compression, bytes);
    }
    return bytes;
  }

  #pack(message: Uint8Array, compression: Compression): Uint8Array {
    return this.#streams.get(compression)?.pack(message) ?? message;
  }
}

function toWireTime(wallMs: number): WireTime {
  const seconds = Math.floor(wallMs / 1000);
  return { seconds: BigInt(seconds), nanos: Math.floor((wallMs - seconds * 1000) * 1e6), offsetSeconds: "utc" };
}

export function fromWireTime(time: WireTime): number {
  return Number(time.seconds) * 1000 + time.nanos / 1e6;
}

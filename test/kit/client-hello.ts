// What a client of today says first. A test or bench that wants another says only what differs.
import type { ClientOptions } from "../../src/typha/wire/index.ts";

export const clientHello: ClientOptions["hello"] = {
  hostname: "node-1",
  info: "",
  version: "",
  syncerType: "felix",
  supportsDecoderRestart: true,
  supportedCompressionAlgorithms: ["snappy"],
  supportsModernPolicyKeys: true,
  clientConnId: 1n,
};

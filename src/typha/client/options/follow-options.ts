// What following takes, what each option may be, and what it is when nobody says: the original's client's values.
import { hostname } from "node:os";
import { type Clock, isRecord, type Log, silentLog, systemClock } from "../../../base/lib/index.ts";
import { type SyncerType, syncerTypes } from "../../../calico/model/basics.ts";
import type { ConversationOptions } from "../connection/connection.ts";
import type { ClientTls, DialOptions } from "../connection/dial.ts";
import { type Discovery, discoveryOf, type Servers } from "../discovery/server-address.ts";
import {
  invalid,
  isList,
  isName,
  isWhole,
  milliseconds,
  misspeltIn,
  oneOf,
  optional,
  type Rule,
  type Rules,
  text,
  withMethods,
  wrongIn,
  wrongValue,
} from "./check-options.ts";

/** What to follow, and how. Only `servers` has to be said. */
export type FollowOptions<Problems extends boolean = false> = {
  readonly servers: Servers;
  /** Which of the four data sets; Felix's unless another is asked for. */
  readonly type?: SyncerType;
  /** Absent: plain TCP, for a server that runs without TLS. */
  readonly tls?: ClientTls;
  /** Ends it, as leaving the loop does. */
  readonly signal?: AbortSignal;
  /** What the server's operator sees of us. */
  readonly hostname?: string;
  readonly info?: string;
  readonly version?: string;
  /** In order of preference; an empty list asks for none. */
  readonly compression?: readonly ("zstd" | "snappy")[];
  /** "legacy": policies under the keys that clients up to v3.31 know. */
  readonly policyKeys?: "modern" | "legacy";
  /** 10 s to connect, 30 s without a whole message, 10 s for a write, unless said otherwise. */
  readonly dialTimeoutMs?: number;
  readonly readTimeoutMs?: number;
  readonly writeTimeoutMs?: number;
  /** Connections in a row that fail or end before they are in sync, after which it gives up; by default it never does. */
  readonly maxFailures?: number;
  /** True: each failed attempt and each lost connection is yielded too, as `{ is: "problem", code, problem, next }`. */
  readonly withProblems?: Problems;
  /**
   * True: until it is first in sync, what waiting cannot mend is thrown: certificates that are refused, or TLS on one side
   * only. With several servers, when it is so with all of them.
   */
  readonly failsOnBadSetup?: boolean;
  /** For tests: time and chance. */
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Hears of each connection and of each loss; silent unless given. */
  readonly log?: Log;
};

export const timeouts = { dialTimeoutMs: 10_000, readTimeoutMs: 30_000, writeTimeoutMs: 10_000 } as const;

export type Following = DialOptions &
  Omit<ConversationOptions, "hello"> & {
    readonly discover: Discovery;
    /** Made anew for each connection, which gets an id of its own. */
    hello(): ConversationOptions["hello"];
    readonly signal: AbortSignal;
    readonly maxFailures: number;
    readonly withProblems: boolean;
    readonly failsOnBadSetup: boolean;
    readonly random: () => number;
    readonly log: Log;
  };

/** Throws CLIENT_OPTION_INVALID or CLIENT_ADDRESS. */
export function withDefaults(options: FollowOptions<boolean>): Following {
  checkOptions(options);
  const compression = options.compression ?? ["snappy"];
  const random = options.random ?? Math.random;
  return {
    discover: discoveryOf(options.servers),
    tls: options.tls,
    dialTimeoutMs: options.dialTimeoutMs ?? timeouts.dialTimeoutMs,
    readTimeoutMs: options.readTimeoutMs ?? timeouts.readTimeoutMs,
    writeTimeoutMs: options.writeTimeoutMs ?? timeouts.writeTimeoutMs,
    hello: () => ({
      hostname: options.hostname ?? hostname(),
      info: options.info ?? "cattail client",
      version: options.version ?? "",
      syncerType: options.type ?? "felix",
      supportsDecoderRestart: compression.length > 0,
      supportedCompressionAlgorithms: compression,
      supportsModernPolicyKeys: (options.policyKeys ?? "modern") === "modern",
      clientConnId: BigInt(Math.floor(random() * Number.MAX_SAFE_INTEGER)),
    }),
    signal: options.signal ?? new AbortController().signal,
    maxFailures: options.maxFailures ?? Number.POSITIVE_INFINITY,
    withProblems: options.withProblems ?? false,
    failsOnBadSetup: options.failsOnBadSetup ?? false,
    random,
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLog,
  };
}

const truth: Rule = { isRight: (value) => typeof value === "boolean", wants: "true or false" };

const optionRules: Rules<FollowOptions<boolean>> = {
  servers: {
    isRight: (value) =>
      text.isRight(value) || typeof value === "function" || (isList(value, text.isRight) && value.length > 0),
    wants: `"HOST:PORT", a list of at least one of them, or a discovery such as kubernetesService()`,
  },
  type: optional(oneOf(syncerTypes)),
  tls: optional({ isRight: isRecord, wants: "an object with caFile, certFile, keyFile and server" }),
  signal: optional({
    isRight: (value) => isRecord(value) && typeof value.aborted === "boolean",
    wants: "an AbortController's signal",
  }),
  hostname: optional(text),
  info: optional(text),
  version: optional(text),
  compression: optional({
    isRight: (value) => isList(value, (name) => name === "zstd" || name === "snappy"),
    wants: `a list of "zstd" and "snappy", or []`,
  }),
  policyKeys: optional(oneOf(["modern", "legacy"])),
  dialTimeoutMs: optional(milliseconds),
  readTimeoutMs: optional(milliseconds),
  writeTimeoutMs: optional(milliseconds),
  maxFailures: optional({
    isRight: (value) => value === Number.POSITIVE_INFINITY || (isWhole(value) && value > 0),
    wants: "a whole number from 1, or Infinity",
  }),
  withProblems: optional(truth),
  failsOnBadSetup: optional(truth),
  clock: optional(withMethods(["wallMs", "monotonicMs", "sleep"])),
  random: optional({ isRight: (value) => typeof value === "function", wants: "a function" }),
  log: optional(withMethods(["debug", "info", "warn", "error"])),
};

// Contents in place of a path are a likely slip, and one that would have the key printed as the name of a missing file.
const file: Rule = { isRight: (value) => isName(value) && !/[\r\n]/.test(value), wants: "the path of a file" };

const tlsRules: Rules<ClientTls> = {
  caFile: file,
  certFile: file,
  keyFile: file,
  server: {
    // Without either, whatever certificate the CA has signed would do, a node's as well.
    isRight: (value) => isRecord(value) && (isName(value.commonName) || isName(value.uriSan)),
    wants: "an object with the commonName or the uriSan that the server's certificate has",
  },
};

/** Throws one error that lists everything wrong. */
function checkOptions(options: FollowOptions<boolean>): void {
  const given: unknown = options;
  if (!isRecord(given)) throw invalid([wrongValue("the argument", given, `an object with "servers"`)]);
  const wrong = [...misspeltIn("", given, optionRules), ...wrongIn("", given, optionRules)];
  if (isRecord(given.tls)) {
    wrong.push(...misspeltIn("tls.", given.tls, tlsRules), ...wrongIn("tls.", given.tls, tlsRules));
  }
  if (wrong.length > 0) throw invalid(wrong);
}

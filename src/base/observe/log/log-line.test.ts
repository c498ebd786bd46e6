import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { LogFields } from "../../lib/index.ts";
import { goQuote, jsonLine, type LogRecord, originalLine, syslogText } from "./log-line.ts";

const atMs = new Date(2026, 10, 15, 8, 5, 40, 86).getTime();
const record = (of: Partial<LogRecord>): LogRecord => ({
  level: "INFO",
  atMs,
  file: "daemon.go",
  line: 255,
  message: "Datastore initialized.",
  fields: {},
  ...of,
});

test("a line is the original's, to the byte", () => {
  equal(
    originalLine(record({ fields: { key: "value" } }), { pid: 7836, component: "kettle" }),
    '2026-11-15 08:05:40.086 [INFO][7836] kettle/daemon.go 255: Datastore initialized. key="value"\n',
  );
  equal(
    originalLine(
      record({
        level: "WARNING",
        atMs: new Date(2024, 0, 2, 3, 4, 5, 678).getTime(),
        file: "sync_server.go",
        line: 123,
        message: "Message text",
        fields: { other: 5, key: "string" },
      }),
      { pid: 1234, component: "kettle" },
    ),
    '2024-01-02 03:04:05.678 [WARNING][1234] kettle/sync_server.go 123: Message text key="string" other=5\n',
  );
});

test("a line whose place is not known says so", () => {
  equal(
    originalLine(record({ line: undefined }), { pid: 1, component: "kettle" }),
    "2026-11-15 08:05:40.086 [INFO][1] kettle/daemon.go <nil>: Datastore initialized.\n",
  );
});

test("syslog's text has no time, process or component", () => {
  equal(syslogText(record({ fields: { a: 1 } })), "INFO daemon.go 255: Datastore initialized. a=1");
});

const circular: { self?: unknown } = {};
circular.self = circular;
const fields: { name: string; fields: LogFields; text: string }[] = [
  { name: "sorted by name, capitals first", fields: { b: 1, a: 2, B: 3 }, text: "B=3 a=2 b=1" },
  {
    name: "numbers and booleans bare",
    fields: { a: 1.5, b: true, c: 12345678901234567890n },
    text: "a=1.5 b=true c=12345678901234567890",
  },
  { name: "nothing as Go's nil", fields: { a: null, b: undefined }, text: "a=<nil>" },
  { name: "errors bare", fields: { error: new Error("it broke") }, text: "error=it broke" },
  {
    name: "an error's code where its text lacks it",
    fields: { e: Object.assign(new Error("x"), { code: "EPIPE" }) },
    text: "e=x (EPIPE)",
  },
  { name: "an error cannot start a line", fields: { e: new Error("a\n2026 [FATAL] b") }, text: "e=a\\n2026 [FATAL] b" },
  { name: "objects as JSON", fields: { o: { a: [1, "x"], n: 1n } }, text: 'o={"a":[1,"x"],"n":"1"}' },
  { name: "an object that holds itself", fields: { o: circular }, text: "o=[value that cannot be shown]" },
  { name: "quotes and backslashes", fields: { a: 'say "hi" \\' }, text: 'a="say \\"hi\\" \\\\"' },
  { name: "a newline and a terminal's colours", fields: { a: "x\r\n\x1b[31mred" }, text: 'a="x\\r\\n\\x1b[31mred"' },
  { name: "letters of all the world", fields: { a: "café 日本 🐄" }, text: 'a="café 日本 🐄"' },
  {
    name: "what cannot be seen",
    fields: { a: "\u200b\u202e\u00a0\u{e0001}\ud800" },
    text: 'a="\\u200b\\u202e\\u00a0\\U000e0001\\ufffd"',
  },
  { name: "a name from a peer", fields: { "a\nb": 1 }, text: "a\\nb=1" },
];
for (const row of fields) {
  test(`fields: ${row.name}`, () => {
    equal(
      originalLine(record({ message: "m", fields: row.fields }), { pid: 1, component: "kettle" }).split("255: m ")[1],
      `${row.text}\n`,
    );
  });
}

test("a value is cut at 256 bytes, between characters", () => {
  for (const value of ["x".repeat(10_000), "é".repeat(10_000), "🐄".repeat(10_000), `x${"é".repeat(200)}`]) {
    const line = originalLine(record({ fields: { a: value } }), { pid: 1, component: "kettle" });
    const shown = /a="(.*)…"\n$/.exec(line)?.[1] ?? "";
    ok(Buffer.byteLength(shown) <= 256 && Buffer.byteLength(shown) > 252, shown);
    ok(value.startsWith(shown));
  }
  const exact = "x".repeat(256);
  ok(originalLine(record({ fields: { a: exact } }), { pid: 1, component: "kettle" }).endsWith(`a="${exact}"\n`));
});

test("nothing a peer says makes a second line", () => {
  for (let code = 0; code < 0x3000; code++) {
    const text = String.fromCharCode(code);
    for (const line of [originalLine, jsonLine]) {
      const made = line(record({ message: `m${text}`, fields: { [`k${text}`]: text, e: new Error(text) } }), {
        pid: 1,
        component: "kettle",
      });
      equal(made.split(/[\n\r]/).length, 2, `U+${code.toString(16)}`);
    }
  }
});

test("a JSON line holds everything, and a field cannot replace what is there", () => {
  const line = jsonLine(
    record({ fields: { level: "x", n: 1, o: { a: 1 }, e: new Error("bad"), gone: undefined, __proto__: null } }),
    { pid: 7, component: "kettle" },
  );
  deepEqual(JSON.parse(line), {
    time: new Date(atMs).toISOString(),
    level: "INFO",
    pid: 7,
    file: "daemon.go",
    line: 255,
    message: "Datastore initialized.",
    e: "bad",
    field_level: "x",
    n: 1,
    o: '{"a":1}',
  });
});

test("quoting is Go's", () => {
  equal(goQuote("\x07\b\f\n\r\t\v\x00\x7f"), '"\\a\\b\\f\\n\\r\\t\\v\\x00\\x7f"');
});

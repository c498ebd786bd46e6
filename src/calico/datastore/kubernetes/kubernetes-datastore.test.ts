// What the datastore makes of answers that a real API server does not give on request.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { type FakeAnswer, startFakeApi } from "../../../../test/kit/fake-api.ts";
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { ListPage, Revision, WatchEvent } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import type { FollowEvent } from "../follow/follow-event.ts";
import { KnownObjects } from "../follow/known-objects.ts";
import { ruleYaml } from "../missing-rights.ts";
import { type KubernetesDatastore, openKubernetes } from "./kubernetes-datastore.ts";

const signal = new AbortController().signal;
const open = (url: string, more: object = {}) =>
  openKubernetes(
    { apiEndpoint: url, apiGroup: "crd.projectcalico.org/v1", apiToken: "t", ...more },
    { clock: systemClock, log: silentLog },
  );

const tier = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } });
const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const status = (code: number): FakeAnswer => ({ status: code, body: { kind: "Status", message: "as scripted" } });
const endOfList = line("BOOKMARK", {
  metadata: { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } },
});

async function pages(datastore: KubernetesDatastore): Promise<ListPage[]> {
  return Array.fromAsync(datastore.list("Tier", { signal }));
}

async function events(datastore: KubernetesDatastore): Promise<WatchEvent[]> {
  return (await Array.fromAsync(datastore.watch("Tier", { from: "5" as Revision, signal }))).flat();
}

test("a streamed list ends at its mark, whose revision is the list's", async () => {
  await using api = await startFakeApi([{ body: [line("ADDED", tier("a", "3")), endOfList], after: "hang" }]);
  await using datastore = await open(api.url);
  const [page] = await pages(datastore);
  deepEqual([page?.items.map(({ id }) => id.name), page?.revision], [["a"], "9"]);
});

test("a server that does not stream lists is asked for pages, and not for a stream again", async () => {
  const refusal = { status: 422, body: { kind: "Status", reason: "Invalid", message: "sendInitialEvents: Forbidden" } };
  const page = { body: { metadata: { resourceVersion: "9" }, items: [tier("a", "3")] } };
  await using api = await startFakeApi([refusal, page]);
  await using datastore = await open(api.url);
  equal((await pages(datastore))[0]?.items.length, 1);
  await pages(datastore);
  deepEqual(
    api.asked.map((asked) => asked.includes("sendInitialEvents")),
    [true, false, false],
  );
});

test("what is changed and deleted while a list is streamed ends as it was left", async () => {
  const changes = [
    ...["a", "b", "c"].map((name) => line("ADDED", tier(name, "3"))),
    line("DELETED", tier("b", "5")),
    line("MODIFIED", tier("a", "6")),
    line("DELETED", tier("c", "7")),
    line("ADDED", tier("c", "8")),
  ];
  await using api = await startFakeApi([{ body: [...changes, endOfList], after: "hang" }]);
  await using datastore = await open(api.url);
  const known = new KnownObjects();
  known.absorb({ id: { namespace: "", name: "b" }, revision: "2" as Revision, value: {} });
  known.startList();
  const said = (await pages(datastore)).flatMap((page) => known.absorbPage(page));
  deepEqual([...said, ...known.endList()].map(eventText), ["a@3", "b@3", "c@3", "a@6", "c@8", "-b"]);
});

function eventText(event: FollowEvent): string {
  if (event.is === "status") return "status";
  return event.is === "set" ? `${event.object.id.name}@${event.object.revision}` : `-${event.id.name}`;
}

const added: FakeAnswer = { body: [line("ADDED", tier("a", "3"))] };
const whole: FakeAnswer = { body: [endOfList], after: "hang" };
const emptyPage: FakeAnswer = { body: { metadata: { resourceVersion: "9" }, items: [] } };
/** Enough for a page before the end. */
const endless: FakeAnswer = {
  body: Array.from({ length: 64 }, (_, i) => line("ADDED", tier(`t${i}`, "3"))).join(""),
  after: "hang",
};
const bookmark = line("BOOKMARK", tier("", "8"));
const silence = new DatastoreError("unavailable", "silent");

/** How each list after the first one of tiers is asked for: "stream" or "pages". */
const styles: { name: string; answers: FakeAnswer[]; lists: Kind[]; gaveUp?: unknown; asks: string[] }[] = [
  {
    name: "a bookmark before the end of a list: the server watches, so pages for all",
    answers: [{ body: [line("ADDED", tier("a", "3")), bookmark], after: "hang" }, emptyPage],
    lists: ["Tier", "Pod"],
    asks: ["pages", "pages"],
  },
  {
    name: "a list without an end that its follower gives up: the server watches, so pages for all",
    answers: [endless, emptyPage],
    lists: ["Tier", "Pod"],
    gaveUp: silence,
    asks: ["pages", "pages"],
  },
  {
    name: "a list that is given up because everything stops tells nothing",
    answers: [endless, whole],
    lists: ["Tier"],
    gaveUp: new Error("stopped"),
    asks: ["stream"],
  },
  {
    name: "a list that breaks off once is streamed again",
    answers: [{ ...added, after: "cut" }, whole],
    lists: ["Tier", "Pod"],
    asks: ["stream", "stream"],
  },
  {
    name: "a list that breaks off twice in a row is read in pages, and only its kind",
    answers: [{ ...added, after: "cut" }, added, whole, emptyPage],
    lists: ["Tier", "Pod", "Tier"],
    asks: ["stream", "stream", "pages"],
  },
  {
    name: "a whole list in between starts the count again",
    answers: [added, whole, added],
    lists: ["Tier", "Tier", "Tier"],
    asks: ["stream", "stream", "stream"],
  },
  {
    name: "who may list and not watch gets pages, and only of that kind",
    answers: [status(403), emptyPage, emptyPage, whole],
    lists: ["Tier", "Pod"],
    asks: ["pages", "stream"],
  },
];

const listFailures: { name: string; answers: FakeAnswer[]; fails: object }[] = [
  {
    name: "a list that breaks off is no list",
    answers: [{ body: line("ADDED", tier("a", "3")) }],
    fails: { code: "unavailable" },
  },
  {
    name: "a list that is cut is no list",
    answers: [{ body: line("ADDED", tier("a", "3")), after: "cut" }],
    fails: { code: "unavailable" },
  },
  {
    name: "a continuation that has expired says so, whatever came before",
    answers: [
      { status: 400 },
      { body: { metadata: { resourceVersion: "9", continue: "c" }, items: [tier("a", "3")] } },
      { status: 410, body: { reason: "Expired", message: "The provided continue parameter is too old" } },
    ],
    fails: { code: "expired" },
  },
  {
    name: "a redirect is not followed",
    answers: [{ status: 307, headers: { location: "http://127.0.0.1:1/elsewhere" } }],
    fails: { code: "invalid", status: 307 },
  },
  {
    name: "a token refused twice is refused",
    answers: [{ status: 401, body: { message: "Unauthorized" } }],
    fails: { code: "unauthorized" },
  },
  {
    name: "too many requests come with the time to wait",
    answers: [{ status: 429, headers: { "retry-after": "17" }, body: {} }],
    fails: { code: "rate-limited", retryAfterMs: 17_000 },
  },
  {
    name: "the time to wait may be in the body",
    answers: [{ status: 429, body: { details: { retryAfterSeconds: 3 } } }],
    fails: { code: "rate-limited", retryAfterMs: 3000 },
  },
  {
    name: "a server that cannot now is unavailable, with its status",
    answers: [{ status: 503, body: "<html>busy</html>" }],
    fails: { code: "unavailable", status: 503 },
  },
  {
    name: "a revision from the future is told from a timeout",
    answers: [
      { status: 504, body: { reason: "Timeout", details: { causes: [{ reason: "ResourceVersionTooLarge" }] } } },
    ],
    fails: { code: "too-large-revision" },
  },
  {
    name: "an answer that is no list is invalid",
    answers: [{ status: 400 }, { body: "[1,2]" }],
    fails: { code: "invalid" },
  },
  {
    name: "an answer that is no JSON is invalid",
    answers: [{ status: 400 }, { body: "{" }],
    fails: { code: "invalid" },
  },
  {
    name: "an object without a name is invalid",
    answers: [{ body: line("ADDED", { metadata: { resourceVersion: "1" } }) }],
    fails: { code: "invalid" },
  },
];

const refusals: { name: string; kind: Kind; answers: FakeAnswer[]; fails: object }[] = [
  {
    name: "a kind that is refused and served is forbidden, with the rule to grant",
    kind: "Tier",
    answers: [status(403), status(403), { body: { resources: [{ name: "tiers" }] } }],
    fails: { code: "forbidden", missingRule: ruleYaml("crd.projectcalico.org", "tiers") },
  },
  {
    name: "a kind that is refused and not served is missing",
    kind: "Tier",
    answers: [status(403), status(403), { body: { resources: [{ name: "ippools" }] } }],
    fails: { code: "no-such-kind" },
  },
  {
    name: "a kind that is refused while discovery fails is forbidden",
    kind: "Tier",
    answers: [status(403), status(403), status(503)],
    fails: { code: "forbidden" },
  },
  {
    name: "a kind of a group that is not served is missing",
    kind: "Tier",
    answers: [status(404)],
    fails: { code: "no-such-kind" },
  },
  {
    name: "a kind that is not found but served is not missing",
    kind: "Tier",
    answers: [status(404), { body: { resources: [{ name: "tiers" }] } }],
    fails: { code: "unavailable", status: 404 },
  },
  {
    name: "a kind is not missing while discovery fails",
    kind: "Tier",
    answers: [status(404), status(500)],
    fails: { code: "unavailable" },
  },
  { name: "pods are never missing", kind: "Pod", answers: [status(404)], fails: { code: "invalid" } },
];

for (const { name, answers, lists, gaveUp, asks } of styles) {
  test(`list: ${name}`, async () => {
    await using api = await startFakeApi(answers);
    await using datastore = await open(api.url);
    const controller = new AbortController();
    const listOnce = async (kind: Kind, signal: AbortSignal) => {
      try {
        for await (const _ of datastore.list(kind, { signal })) if (gaveUp !== undefined) controller.abort(gaveUp);
      } catch {
        // only the question counts
      }
    };
    await listOnce("Tier", controller.signal);
    const already = api.asked.length;
    for (const kind of lists) await listOnce(kind, signal);
    const later = api.asked.slice(already).filter((asked) => /\/(tiers|pods)\?/.test(asked));
    deepEqual(
      later.map((asked) => (asked.includes("sendInitialEvents") ? "stream" : "pages")),
      asks,
    );
  });
}

for (const { name, kind, answers, fails } of refusals) {
  test(`list: ${name}`, async () => {
    await using api = await startFakeApi(answers);
    await using datastore = await open(api.url);
    await rejects(Array.fromAsync(datastore.list(kind, { signal })), fails);
  });
}

for (const { name, answers, fails } of listFailures) {
  test(`list: ${name}`, async () => {
    await using api = await startFakeApi(answers);
    await using datastore = await open(api.url);
    await rejects(pages(datastore), fails);
  });
}

const watchAnswers: { name: string; answer: FakeAnswer; events?: WatchEvent["is"][]; fails?: object }[] = [
  {
    name: "events may come in any pieces",
    answer: {
      body: [...(line("ADDED", tier("ä", "6")) + line("DELETED", tier("ä", "7")) + line("BOOKMARK", tier("", "8")))],
    },
    events: ["set", "delete", "bookmark"],
  },
  {
    name: "410 inside the stream is expired",
    answer: { body: line("ERROR", { code: 410, reason: "Expired", message: "too old resource version" }) },
    fails: { code: "expired", status: 410 },
  },
  {
    name: "410 instead of a stream is expired",
    answer: { status: 410, body: { code: 410, reason: "Gone" } },
    fails: { code: "expired" },
  },
  {
    name: "another error inside the stream keeps its status",
    answer: { body: line("ERROR", { code: 500, reason: "InternalError", message: "etcd" }) },
    fails: { code: "unavailable", status: 500 },
  },
  { name: "half an event is a broken stream", answer: { body: '{"type":"ADD' }, fails: { code: "unavailable" } },
  { name: "a line that is no JSON is invalid", answer: { body: "<html>\n" }, fails: { code: "invalid" } },
  { name: "an unknown type is invalid", answer: { body: line("NEWS", tier("a", "1")) }, fails: { code: "invalid" } },
];

for (const { name, answer, events: expected, fails } of watchAnswers) {
  test(`watch: ${name}`, async () => {
    await using api = await startFakeApi([answer]);
    await using datastore = await open(api.url);
    if (fails !== undefined) await rejects(events(datastore), fails);
    else
      deepEqual(
        (await events(datastore)).map((event) => event.is),
        expected,
      );
  });
}

test("watch: what came before an error in the same piece is not lost", async () => {
  const error = line("ERROR", { code: 500 });
  await using api = await startFakeApi([{ body: line("ADDED", tier("a", "6")) + error }]);
  await using datastore = await open(api.url);
  const seen: string[] = [];
  await rejects(async () => {
    for await (const events of datastore.watch("Tier", { from: "5" as Revision, signal })) {
      seen.push(...events.map((event) => event.is));
    }
  });
  deepEqual(seen, ["set"]);
});

test("an endless line is an error before it is memory", async () => {
  await using api = await startFakeApi([
    { body: Array.from({ length: 40 }, () => "x".repeat(1 << 20)), after: "hang" },
  ]);
  await using datastore = await open(api.url);
  await rejects(events(datastore), { code: "invalid" });
});

test("numbers beyond 2^53 are read exactly, and written back as they were", async () => {
  const bodies: string[] = [];
  const stored = '{"metadata":{"name":"b","resourceVersion":"1"},"spec":{"sequenceNumber":1786521467890123457}}';
  await using api = await startFakeApi([
    { body: stored },
    (request) => {
      request.on("data", (chunk) => bodies.push(`${chunk}`));
      return { body: stored };
    },
  ]);
  await using datastore = await open(api.url);
  const block = await datastore.get("IPAMBlock", { namespace: "", name: "b" });
  deepEqual(Object(block?.value).spec, { sequenceNumber: 1786521467890123457n });
  if (block !== undefined) await datastore.update("IPAMBlock", block);
  equal(bodies.join("").includes('"sequenceNumber":1786521467890123457'), true);
});

test("one object nested to the end of every stack does not keep the others from being read", async () => {
  const deep = `{"metadata":{"name":"deep","resourceVersion":"6"},"spec":${"[".repeat(9000)}1786521467890123457${"]".repeat(9000)}}`;
  const plain = '{"metadata":{"name":"plain","resourceVersion":"7"}}';
  const names: string[] = [];
  await using pages = await startFakeApi([{ body: `{"metadata":{"resourceVersion":"9"},"items":[${deep},${plain}]}` }]);
  await using listed = await open(pages.url, { streamLists: false });
  const { signal } = new AbortController();
  for await (const { items } of listed.list("Tier", { signal })) names.push(...items.map(({ id }) => id.name));
  await using stream = await startFakeApi([
    { body: `{"type":"ADDED","object":${deep}}\n{"type":"ADDED","object":${plain}}\n` },
  ]);
  await using watched = await open(stream.url);
  for await (const said of watched.watch("Tier", { from: "5" as Revision, signal })) {
    names.push(...said.map((event) => (event.is === "set" ? event.object.id.name : event.is)));
  }
  deepEqual(names, ["deep", "plain", "deep", "plain"]);
});

test("an aborted watch throws the signal's reason", async () => {
  await using api = await startFakeApi([{ body: "", after: "hang" }]);
  await using datastore = await open(api.url);
  const controller = new AbortController();
  const watching = Array.fromAsync(datastore.watch("Tier", { from: "5" as Revision, signal: controller.signal }));
  setImmediate(() => controller.abort(new Error("enough")));
  await rejects(watching, /enough/);
});

const groups: { name: string; apiGroup?: string; served: string[]; expected: string }[] = [
  { name: "both groups", served: ["crd.projectcalico.org", "projectcalico.org"], expected: "crd.projectcalico.org" },
  { name: "v3 alone", served: ["apps", "projectcalico.org"], expected: "projectcalico.org" },
  { name: "neither", served: ["apps"], expected: "crd.projectcalico.org" },
  { name: "v3 by setting, in any case", apiGroup: "ProjectCalico.org/V3", served: [], expected: "projectcalico.org" },
  { name: "anything else by setting", apiGroup: "x", served: ["projectcalico.org"], expected: "crd.projectcalico.org" },
];

for (const { name, apiGroup = "", served, expected } of groups) {
  test(`Calico's group, ${name}: ${expected}`, async () => {
    await using api = await startFakeApi([{ body: { groups: served.map((group) => ({ name: group })) } }]);
    await using datastore = await open(api.url, { apiGroup });
    equal(await datastore.calicoGroup(), expected);
  });
}

for (const { name, says } of [
  { name: "", says: /resource name may not be empty/ },
  { name: ".", says: /invalid resource name "\.": \[may not be '\.'\]/ },
  { name: "..", says: /invalid resource name "\.\.": \[may not be '\.\.'\]/ },
  { name: "a/../%", says: /\[may not contain '\/' may not contain '%'\]/ },
])
  test(`an object named ${JSON.stringify(name)} is asked of nobody: a URL would lose the name, and a deletion take all of the kind`, async () => {
    await using api = await startFakeApi([{ body: {} }]);
    await using datastore = await open(api.url);
    for (const [namespace, named] of [
      ["default", name],
      ...(name === "" ? [] : ([[name, "a"]] as const)), // without a namespace it is a list of all
    ] as const) {
      await rejects(datastore.get("NetworkPolicy", { namespace, name: named }, { signal }), says);
      await rejects(datastore.delete("NetworkPolicy", { namespace, name: named }, { signal }), says);
    }
    deepEqual(api.asked, []);
  });

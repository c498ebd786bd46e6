// The dashboard's address without a browser: who is answered, with what, and how little it does for many who ask.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import type { OverviewView } from "../../src/typha/dashboard/index.ts";
import { type DashboardSubject, startDashboardSubject } from "../kit/dashboard-subject.ts";
import { eventually } from "../kit/eventually.ts";

type Reply = { status: number; headers: { [name: string]: unknown }; body: string };

describe("the dashboard's address", () => {
  let subject: DashboardSubject;
  before(async () => {
    subject = await startDashboardSubject({ nodes: 4, pods: 8, clients: 3 });
    // The clients are asked now and then; an answer from before they came may still be given.
    await eventually(async () => {
      const { nodes } = JSON.parse((await ask("/api/overview")).body) as OverviewView; // our own server's JSON
      return nodes.upToDate === 3;
    }, "three nodes up to date");
  });
  after(() => subject?.[Symbol.asyncDispose]());

  const ask = (path: string, options: { method?: string; headers?: { [name: string]: string } } = {}) =>
    new Promise<Reply>((resolve, reject) => {
      const asked = request(new URL(path, subject.address), options, (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          body += part;
          if (path === "/events" && body.includes("\n\nevent: overview")) response.destroy();
        });
        response.on("close", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      });
      asked.on("error", reject);
      asked.end();
    });

  const refused: { name: string; path: string; options: Parameters<typeof ask>[1]; status: number }[] = [
    { name: "a foreign Host", path: "/", options: { headers: { host: "evil.example" } }, status: 403 },
    {
      name: "a foreign Host for data",
      path: "/api/keys",
      options: { headers: { host: "evil.example:9095" } },
      status: 403,
    },
    { name: "POST", path: "/api/overview", options: { method: "POST" }, status: 405 },
    { name: "DELETE", path: "/api/key", options: { method: "DELETE" }, status: 405 },
    { name: "a file that is not the page's", path: "/package.json", options: {}, status: 404 },
    { name: "a way out of its folder", path: "/..%2f..%2fpackage.json", options: {}, status: 404 },
  ];
  for (const { name, path, options, status } of refused) {
    test(`refuses ${name}`, async () => equal((await ask(path, options)).status, status));
  }

  test("every answer forbids what the page does not need", async () => {
    for (const path of ["/", "/page.js", "/page.css", "/api/overview", "/events"]) {
      const { headers } = await ask(path);
      match(
        String(headers["content-security-policy"]),
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
        path,
      );
      equal(headers["x-content-type-options"], "nosniff", path);
      equal(headers["referrer-policy"], "no-referrer", path);
      ok(!String(headers["content-security-policy"]).includes("unsafe"), path);
    }
  });

  test("the overview is pushed to whoever listens", async () => {
    const { headers, body } = await ask("/events");
    equal(headers["content-type"], "text/event-stream");
    const overview = JSON.parse(body.slice(body.indexOf("data: ") + 6).split("\n")[0] ?? "") as OverviewView;
    deepEqual([overview.nodes.here, overview.nodes.missing], [3, ["node-004"]]);
    equal(overview.syncers.length, 4);
    ok(overview.keysByKind.some(({ kind, keys }) => kind === "WorkloadEndpoint" && keys === 8));
  });

  test("a browser that has the answer already is told so", async () => {
    const { headers } = await ask("/api/nodes");
    const etag = String(headers.etag);
    const again = await ask("/api/nodes", { headers: { "if-none-match": etag } });
    // Made anew in between where the machine was slow, and then it is another answer.
    if (again.headers.etag === etag) deepEqual([again.status, again.body], [304, ""]);
    else equal(again.status, 200);
  });

  const questions: { name: string; path: string; says: RegExp }[] = [
    {
      name: "keys by kind",
      path: "/api/keys?kind=Node&limit=2",
      says: /"total":4.*"rows":\[\{.*nodes\/node-001.*node-002/,
    },
    { name: "an unknown data set", path: "/api/keys?syncer=nonsense", says: /"total":0/ },
    { name: "numbers that are none", path: "/api/keys?limit=x&offset=-1", says: /"offset":0/ },
    { name: "a key that is not there", path: "/api/key?path=/nowhere", says: /^null$/ },
    { name: "an endpoint that is none", path: "/api/endpoint?path=/calico/v1/Ready", says: /^null$/ },
    {
      name: "one key",
      path: "/api/key?path=/calico/resources/v3/projectcalico.org/nodes/node-001",
      says: /"clients":3,"clientsBehind":0/,
    },
  ];
  for (const { name, path, says } of questions) {
    test(`answers about ${name}`, async () => {
      const { status, body } = await ask(path);
      equal(status, 200);
      match(body, says);
    });
  }
});

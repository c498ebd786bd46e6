// The ends of a question as people type them.
import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { parseSubject, type Subject } from "./subject.ts";

const labels = (namespace: string, pairs: { readonly [name: string]: string }, account = "default"): Subject => ({
  is: "labels",
  namespace,
  labels: pairs,
  account,
});

const cases: { text: string; is: Subject }[] = [
  { text: "web", is: { is: "pod", namespace: "here", name: "web" } },
  { text: "shop/web", is: { is: "pod", namespace: "shop", name: "web" } },
  { text: "10.0.0.7", is: { is: "address", text: "10.0.0.7" } },
  { text: "fd00::7", is: { is: "address", text: "fd00::7" } },
  { text: "node/n1", is: { is: "node", name: "n1" } },
  { text: "hostendpoint/n1-eth0", is: { is: "host endpoint", name: "n1-eth0" } },
  { text: "app=web", is: labels("here", { app: "web" }) },
  { text: "shop/app=web,x=y", is: labels("shop", { app: "web", x: "y" }) },
  { text: "shop/app=web@robot", is: labels("shop", { app: "web" }, "robot") },
  { text: "shop/app=", is: labels("shop", { app: "" }) },
  { text: "app.kubernetes.io/name=web", is: labels("here", { "app.kubernetes.io/name": "web" }) },
  { text: "shop/app.kubernetes.io/name=web", is: labels("shop", { "app.kubernetes.io/name": "web" }) },
];
for (const { text, is } of cases) test(`${text} is read`, () => deepEqual(parseSubject(text, "here"), is));

for (const text of ["", "/", "shop/", "a/b/c", "shop/=x", "shop/a=b,c", "shop/a=b c", "shop/a=b=c", "shop/a=b@c@d"])
  test(`${JSON.stringify(text)} is refused`, () =>
    throws(() => parseSubject(text, "here"), { code: "EXPLAIN_SUBJECT" }));

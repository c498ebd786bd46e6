import { equal } from "node:assert/strict";
import { test } from "node:test";
import { isSecretName } from "./redact.ts";

const secrets: { name: string; secret: boolean }[] = [
  { name: "ETCD_PASSWORD", secret: true },
  { name: "API_TOKEN", secret: true },
  { name: "SERVER_KEY_FILE", secret: false },
  { name: "TOKEN_PATH", secret: false },
  { name: "SomeKey", secret: true },
  { name: "KUBECONFIG", secret: true },
  { name: "MY_PRIVATE_THING", secret: true },
  { name: "SERVER_PORT", secret: false },
  { name: "CLIENT_NAME", secret: false },
];
for (const { name, secret } of secrets) {
  test(`${name} is ${secret ? "" : "not "}a secret`, () => equal(isSecretName(name), secret));
}

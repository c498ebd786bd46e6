import { equal } from "node:assert/strict";
import { test } from "node:test";
import { type ProxySettings, proxyFor } from "./proxy.ts";

const proxy = "http://proxy:3128";
const both = { httpsProxy: proxy, httpProxy: "http://plain:80" };

const cases: { name: string; server: string; settings?: ProxySettings; expected: string | undefined }[] = [
  { name: "no variable, no proxy", server: "https://10.0.0.1", settings: {}, expected: undefined },
  { name: "https goes by HTTPS_PROXY", server: "https://10.0.0.1:6443", expected: proxy },
  { name: "http goes by HTTP_PROXY", server: "http://10.0.0.1:8080", expected: "http://plain:80" },
  {
    name: "a proxy for http is none for https",
    server: "https://a",
    settings: { httpProxy: proxy },
    expected: undefined,
  },
  {
    name: "a proxy without a scheme speaks http",
    server: "https://a",
    settings: { httpsProxy: "proxy:3128" },
    expected: proxy,
  },
  {
    name: "a scheme stays, with name and password",
    server: "https://a",
    settings: { httpsProxy: "socks5://me:p@proxy:1080" },
    expected: "socks5://me:p@proxy:1080",
  },
  ...["localhost:6443", "127.0.0.1", "127.1.2.3:6443", "[::1]:6443"].map((host) => ({
    name: `${host} is this machine`,
    server: `https://${host}`,
    expected: undefined,
  })),
];

const exceptions: { noProxy: string; host: string; isExcepted: boolean }[] = [
  { noProxy: "*", host: "api.example.com", isExcepted: true },
  { noProxy: "", host: "api.example.com", isExcepted: false },
  { noProxy: "other.com, api.example.com", host: "api.example.com", isExcepted: true },
  { noProxy: "example.com", host: "api.example.com", isExcepted: true },
  { noProxy: "EXAMPLE.com", host: "API.example.com", isExcepted: true },
  { noProxy: "example.com", host: "example.com", isExcepted: true },
  { noProxy: "ample.com", host: "example.com", isExcepted: false },
  { noProxy: ".example.com", host: "api.example.com", isExcepted: true },
  { noProxy: ".example.com", host: "example.com", isExcepted: false },
  { noProxy: "*.example.com", host: "api.example.com", isExcepted: true },
  { noProxy: "*.example.com", host: "example.com", isExcepted: false },
  { noProxy: "example.com:6443", host: "example.com:6443", isExcepted: true },
  { noProxy: "example.com:443", host: "example.com", isExcepted: true },
  { noProxy: "example.com:6443", host: "example.com", isExcepted: false },
  { noProxy: "10.0.0.0/8", host: "10.96.0.1", isExcepted: true },
  { noProxy: "10.0.0.0/8", host: "11.0.0.1", isExcepted: false },
  { noProxy: "10.96.0.1", host: "10.96.0.1:443", isExcepted: true },
  { noProxy: "10.96.0.1:443", host: "10.96.0.1", isExcepted: true },
  { noProxy: "10.96.0.1:8443", host: "10.96.0.1", isExcepted: false },
  { noProxy: "10.96.0.1", host: "10.96.0.10", isExcepted: false },
  { noProxy: "0.0.1", host: "10.0.0.1", isExcepted: false },
  { noProxy: "fd00::/8", host: "[fd12::1]:6443", isExcepted: true },
  { noProxy: "fd00::/8", host: "10.0.0.1", isExcepted: false },
  { noProxy: "fd12:0::1", host: "[fd12::1]", isExcepted: true },
  { noProxy: "[fd12::1]:6443", host: "[fd12::1]:6443", isExcepted: true },
  { noProxy: "[fd12::1]:6443", host: "[fd12::1]", isExcepted: false },
  { noProxy: "10.0.0.0/99, /8, :443, .", host: "10.0.0.1", isExcepted: false },
  { noProxy: "10.0.0.0/8", host: "10.example.com", isExcepted: false },
];

for (const { name, server, settings = both, expected } of cases) {
  test(`proxy of the environment: ${name}`, () => equal(proxyFor(new URL(server), settings), expected));
}

for (const { noProxy, host, isExcepted } of exceptions) {
  test(`NO_PROXY=${noProxy} ${isExcepted ? "excepts" : "does not except"} ${host}`, () => {
    equal(proxyFor(new URL(`https://${host}`), { ...both, noProxy }), isExcepted ? undefined : proxy);
  });
}

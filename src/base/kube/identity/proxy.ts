// Which proxy leads to the API server, as the environment names it: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, read by the
// rules of Go's programs (golang.org/x/net/http/httpproxy), because whoever wrote them wrote them for those.
import { BlockList, isIP } from "node:net";
import { CattailError } from "../../lib/index.ts";

export type ProxySettings = { readonly httpsProxy?: string; readonly httpProxy?: string; readonly noProxy?: string };

/** Undefined: the server is reached directly. This machine itself always is. */
export function proxyFor(server: URL, settings: ProxySettings): string | undefined {
  const { httpsProxy = "", httpProxy = "", noProxy = "" } = settings;
  const proxy = server.protocol === "https:" ? httpsProxy : httpProxy;
  const host = server.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = server.port === "" ? (server.protocol === "https:" ? "443" : "80") : server.port;
  if (proxy === "" || isLoopback(host)) return undefined;
  const rules = noProxy.split(",").map((rule) => rule.trim().toLowerCase());
  if (rules.some((rule) => isExcepted(rule, host, port))) return undefined;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** A rule is "*", an address, a range of addresses or a domain; all but a range may be followed by a port. */
function isExcepted(rule: string, host: string, port: string): boolean {
  if (rule === "*") return true;
  const range = /^([0-9a-f:.]+)\/(\d{1,3})$/.exec(rule);
  if (range !== null) return isInRange(host, range[1] ?? "", Number(range[2]));
  const [, bracketed, plain = "", rulePort] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(rule) ?? ["", "", rule];
  const name = bracketed || plain;
  if (name === "" || (rulePort !== undefined && rulePort !== port)) return false;
  if (isIP(name) !== 0 || isIP(host) !== 0)
    return isIP(host) !== 0 && isInRange(host, name, isIP(name) === 4 ? 32 : 128);
  const domain = name.replace(/^\*(?=\.)/, "");
  return domain.startsWith(".") ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

function isInRange(host: string, address: string, bits: number): boolean {
  const family = familyOf(address);
  if (family === undefined || bits > (family === "ipv4" ? 32 : 128)) return false;
  const range = new BlockList();
  range.addSubnet(address, bits, family);
  return range.check(host, familyOf(host));
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}

/** Throws for what is no proxy that there is. */
export function checkedProxy(proxy: string): string {
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (url !== undefined && /^(https?|socks[45]?[ah]?):$/.test(url.protocol) && url.hostname !== "") return proxy;
  throw new CattailError("KUBERNETES_PROXY", {
    problem: `the proxy for the API server is not of the form http://host:port: ${withoutPassword(proxy)}`,
    next: "Correct proxy-url in the kubeconfig, or HTTPS_PROXY and HTTP_PROXY; NO_PROXY names servers that are reached directly",
  });
}

export function withoutPassword(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//…@");
}

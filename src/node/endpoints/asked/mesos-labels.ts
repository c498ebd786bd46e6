// Labels that Mesos gives a container, in `args` of the network configuration. They become labels of the container's endpoint, in letters that
// a label may have; one of them is no label but the endpoint's namespace.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";

export type MesosLabels = {
  readonly labels: { readonly [name: string]: string };
  readonly namespace: string | undefined;
};

const namespaceLabel = "projectcalico.org/namespace";

export function mesosLabels({ args }: JsonRecord): MesosLabels {
  const list = ["org.apache.mesos", "network_info", "labels", "labels"].reduce<unknown>(memberOf, args);
  const pairs = (Array.isArray(list) ? list : []).map((each) => [textOf(each, "key"), textOf(each, "value")] as const);
  const namespace = pairs.findLast(([name]) => name === namespaceLabel)?.[1];
  const labels = pairs.filter(([name]) => name !== namespaceLabel).map(([name, value]) => [plain(name), plain(value)]);
  return { labels: Object.fromEntries(labels), namespace: namespace === undefined ? undefined : plain(namespace) };
}

/** Mesos allows every letter. As the original: a slash is a dot, other strangers a dash, and neither stands at an end. */
function plain(text: string): string {
  return text
    .replaceAll("/", ".")
    .replaceAll(/[^-_.a-zA-Z0-9]+/g, "-")
    .replaceAll(/-*\.[.-]*/g, ".")
    .replace(/^[.-]+/, "")
    .replace(/[.-]+$/, "");
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function textOf(value: unknown, name: string): string {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : "";
}

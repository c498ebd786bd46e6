// Calico's resource definitions on an API server: those that are missing are created, others replaced, and each is waited for
// until the server serves its kind.
import { isRecord, messageOf, systemClock } from "../../../base/lib/index.ts";
import type { KubernetesDatastore } from "../../../calico/datastore/index.ts";
import { crdManifest, customKinds } from "../../../calico/kinds/index.ts";
import { CtlError } from "../console.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const longestWaitMs = 60_000;

export async function installCrds(datastore: KubernetesDatastore, signal: AbortSignal): Promise<void> {
  const group = await datastore.calicoGroup(signal);
  const names: string[] = [];
  for (const kind of customKinds) {
    const crd = crdManifest(kind, group);
    const name = isRecord(crd.metadata) ? String(crd.metadata.name) : "";
    await put(datastore, name, crd, signal);
    names.push(name);
  }
  for (const name of names) await established(datastore, name, signal);
}

async function put(
  { api }: KubernetesDatastore,
  name: string,
  crd: { readonly [field: string]: unknown },
  signal: AbortSignal,
): Promise<void> {
  const path = `${definitions}/${name}`;
  const wrong = (what: string, error: unknown) =>
    new CtlError(
      `error applying the CRDs necessary to begin datastore import: error ${what} CRD ${name}: ${messageOf(error)}`,
      { cause: error },
    );
  try {
    await api.json({ method: "POST", path: definitions, body: crd, signal });
    return;
  } catch (error) {
    if (!isCode(error, "exists")) throw wrong("creating", error);
  }
  try {
    const there = await api.json({ method: "GET", path, signal });
    const { resourceVersion } = isRecord(there) && isRecord(there.metadata) ? there.metadata : {};
    const metadata = { ...(isRecord(crd.metadata) ? crd.metadata : {}), resourceVersion };
    await api.json({ method: "PUT", path, body: { ...crd, metadata }, signal });
  } catch (error) {
    throw wrong("updating", error);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

async function established({ api }: KubernetesDatastore, name: string, signal: AbortSignal): Promise<void> {
  const untilMs = systemClock.monotonicMs() + longestWaitMs;
  for (;;) {
    const crd = await api.json({ method: "GET", path: `${definitions}/${name}`, signal });
    const status = isRecord(crd) && isRecord(crd.status) ? crd.status : {};
    const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : [];
    if (conditions.some(({ type, status: is }) => type === "Established" && is === "True")) return;
    if (systemClock.monotonicMs() > untilMs) throw new CtlError(`the API server does not serve CRD ${name} yet`);
    await systemClock.sleep(100, signal);
  }
}

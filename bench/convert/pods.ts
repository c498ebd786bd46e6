// 150,000 pods to endpoints with their JSON, in one pass, side by side with nothing but JSON.parse and JSON.stringify of
// the same objects. The goal is at most 1.5 times that.
//   npm run bench:convert [-- --pods 150000]
import { parseArgs } from "node:util";
import { parseJson } from "../../src/base/lib/index.ts";
import { createPodProcessor, type Processor } from "../../src/calico/convert/index.ts";
import { record } from "../../test/kit/record.ts";

const { values: flags } = parseArgs({ options: { pods: { type: "string", default: "150000" } } });
const podCount = Number(flags.pods);
const batchSize = 5000; // texts made at a time, so that memory holds the work and not the input

/** A pod of an ordinary cluster: a deployment's, with a service account, three labels, probes, volumes and conditions. */
function podText(at: number): string {
  const ip = `10.${65 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`;
  const app = `app-${at % 300}`;
  const name = `${app}-7d9f8c6b5-${at.toString(36).padStart(5, "x")}`;
  const time = "2026-11-15T08:05:12Z";
  const uid = `1f2e3d4c-5b6a-4788-9000-${at.toString(16).padStart(12, "0")}`;
  return JSON.stringify({
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name,
      generateName: `${app}-7d9f8c6b5-`,
      namespace: `team-${at % 50}`,
      uid,
      resourceVersion: String(1_000_000 + at),
      creationTimestamp: time,
      labels: { app, "app.kubernetes.io/part-of": "shop", "pod-template-hash": "7d9f8c6b5" },
      annotations: {
        "cni.projectcalico.org/containerID": "3f1c".repeat(16),
        "cni.projectcalico.org/podIP": `${ip}/32`,
        "cni.projectcalico.org/podIPs": `${ip}/32`,
      },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: `${app}-7d9f8c6b5`,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [
        {
          manager: "kube-controller-manager",
          operation: "Update",
          apiVersion: "v1",
          time,
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:metadata": { "f:generateName": {}, "f:labels": { ".": {}, "f:app": {} } },
            "f:spec": { "f:containers": {} },
          },
        },
      ],
    },
    spec: {
      volumes: [
        {
          name: "kube-api-access",
          projected: { sources: [{ serviceAccountToken: { path: "token" } }], defaultMode: 420 },
        },
      ],
      containers: [
        {
          name: "main",
          image: "registry.example.org/shop/main:1.2.3",
          ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
          resources: { limits: { cpu: "500m", memory: "256Mi" }, requests: { cpu: "100m", memory: "128Mi" } },
          volumeMounts: [{ name: "kube-api-access", readOnly: true, mountPath: "/var/run/secrets" }],
          livenessProbe: {
            httpGet: { path: "/healthz", port: "http", scheme: "HTTP" },
            timeoutSeconds: 1,
            periodSeconds: 10,
          },
          terminationMessagePath: "/dev/termination-log",
          imagePullPolicy: "IfNotPresent",
        },
      ],
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      serviceAccountName: `sa-${at % 20}`,
      nodeName: `node-${at % 1500}`,
      securityContext: {},
      schedulerName: "default-scheduler",
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      ],
      enableServiceLinks: true,
    },
    status: {
      phase: "Running",
      conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
        type,
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: time,
      })),
      hostIP: "172.30.0.11",
      podIP: ip,
      podIPs: [{ ip }],
      startTime: time,
      containerStatuses: [{ name: "main", state: { running: { startedAt: time } }, ready: true, restartCount: 0 }],
      qosClass: "Burstable",
    },
  });
}

type Metadata = {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly resourceVersion: string };
};

function plain(texts: readonly string[]): number {
  let bytes = 0;
  for (const text of texts) bytes += Buffer.byteLength(JSON.stringify(JSON.parse(text)));
  return bytes;
}

function convert(texts: readonly string[], processor: Processor): number {
  let bytes = 0;
  for (const text of texts) {
    const pod = parseJson(text);
    const { metadata } = pod as Metadata; // the datastore has found these before a converter sees the object
    const { kvs } = processor.set(metadata, metadata.resourceVersion, pod);
    // A text that was joined from pieces is put together when its bytes are asked for; that is part of the work.
    for (const { value } of kvs) bytes += Buffer.byteLength(value ?? "");
  }
  return bytes;
}

/** Processor time, garbage collection included: the wall's clock also counts whatever else the machine does. */
function measure(work: () => number): { ms: number; bytes: number } {
  const start = process.cpuUsage();
  const bytes = work();
  const { user, system } = process.cpuUsage(start);
  return { ms: (user + system) / 1000, bytes };
}

function textsOf(start: number): string[] {
  return Array.from({ length: batchSize }, (_, at) => podText(start + at));
}

const warmUp = textsOf(0);
plain(warmUp);
convert(warmUp, createPodProcessor());

const processor = createPodProcessor();
const total = { plainMs: 0, convertMs: 0, inputBytes: 0, outputBytes: 0 };
for (let start = 0; start < podCount; start += batchSize) {
  const texts = textsOf(start);
  for (const text of texts) total.inputBytes += text.length;
  // Taking turns at being first shares out the garbage collector's pauses.
  const isPlainFirst = (start / batchSize) % 2 === 0;
  if (isPlainFirst) total.plainMs += measure(() => plain(texts)).ms;
  const { ms, bytes } = measure(() => convert(texts, processor));
  total.convertMs += ms;
  total.outputBytes += bytes;
  if (!isPlainFirst) total.plainMs += measure(() => plain(texts)).ms;
}

const result = {
  pods: podCount,
  inputMegabytes: Math.round(total.inputBytes / 1e6),
  endpointMegabytes: Math.round(total.outputBytes / 1e6),
  plainMs: Math.round(total.plainMs),
  convertMs: Math.round(total.convertMs),
  ratio: Number((total.convertMs / total.plainMs).toFixed(2)),
  microsecondsPerPod: Number(((total.convertMs * 1000) / podCount).toFixed(2)),
};
console.log(JSON.stringify(result, undefined, 2));
record({ of: "pods", figures: result });

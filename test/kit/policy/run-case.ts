// Plays a recorded case: its operations on the world and the lab, then its flows until they are as recorded, and once more.
import { setTimeout as sleep } from "node:timers/promises";
import { type Operation, type PodOfWorld, type PolicyCase, PolicyWorld } from "../policy-world.ts";
import { flowsOf, type Matrix, readFlow } from "./flow.ts";
import type { PolicyLab } from "./lab.ts";
import type { PartUnderTest } from "./part-under-test.ts";
import { probe } from "./probe.ts";
import { During, Held } from "./standing-flows.ts";

/** What the vectors hold beyond what a verdict needs. */
type Step = PolicyCase["steps"][number] & {
  readonly flows?: readonly string[];
  readonly matrix?: readonly Matrix[];
  readonly hold?: readonly string[];
  readonly during?: readonly string[];
};
type Expected = {
  readonly flows?: { readonly [flow: string]: string };
  readonly held?: { readonly [flow: string]: string };
  readonly during?: { readonly [flow: string]: string };
};

export type CaseLimits = { readonly timeoutMs: number; readonly patienceMs: number };

export class CaseRunner {
  readonly #lab: PolicyLab;
  readonly #part: PartUnderTest;
  readonly #limits: CaseLimits;
  readonly #base = new PolicyWorld();
  readonly #pods = new Map<string, PodOfWorld>();

  constructor(lab: PolicyLab, part: PartUnderTest, limits: CaseLimits) {
    this.#lab = lab;
    this.#part = part;
    this.#limits = limits;
  }

  async begin(): Promise<void> {
    for (const pod of this.#base.pods) this.#plug(pod);
    this.#part.start();
    this.#part.sayAll(this.#base.said);
    await this.#part.settled();
  }

  /** What is not as recorded. */
  async play(one: PolicyCase): Promise<readonly string[]> {
    const run = new CaseRun(one, { lab: this.#lab, part: this.#part, limits: this.#limits, runner: this });
    try {
      return await run.play();
    } finally {
      await run.undo();
      for (const place of [...this.#pods.keys()])
        if (!this.#base.pods.some((pod) => nameOf(pod) === place)) this.unplug(place);
      for (const pod of this.#base.pods) {
        const now = this.#pods.get(nameOf(pod));
        if (now !== undefined && now.ips.join() !== pod.ips.join()) this.unplug(nameOf(pod));
        if (!this.#pods.has(nameOf(pod))) this.#plug(pod);
      }
      this.#part.sayAll(this.#base.said);
      await this.#part.settled();
      this.#lab.forgetConnections();
    }
  }

  plug(pod: PodOfWorld): void {
    this.#plug(pod);
  }

  unplug(place: string): void {
    this.#lab.removePod(place);
    this.#pods.delete(place);
  }

  readdress(place: string, ips: readonly string[]): void {
    const pod = this.#pods.get(place);
    if (pod === undefined) throw new Error(`no pod ${place}`);
    this.#lab.readdressPod(place, ips);
    this.#pods.set(place, { ...pod, ips });
  }

  #plug(pod: PodOfWorld): void {
    this.#lab.addPod(pod.namespace, pod.name, pod.ips, pod.node === "node-a");
    this.#pods.set(nameOf(pod), pod);
  }
}

class CaseRun {
  readonly #case: PolicyCase;
  readonly #of: { lab: PolicyLab; part: PartUnderTest; limits: CaseLimits; runner: CaseRunner };
  readonly #world = new PolicyWorld();
  readonly #held = new Map<string, Held>();
  readonly #undo: string[] = [];
  #isStopped = false;

  constructor(one: PolicyCase, of: { lab: PolicyLab; part: PartUnderTest; limits: CaseLimits; runner: CaseRunner }) {
    this.#case = one;
    this.#of = of;
  }

  async play(): Promise<readonly string[]> {
    if (this.#case.env !== undefined) await this.#restart(settingsOf(this.#case.env));
    const problems: string[] = [];
    for (const [index, step] of this.#case.steps.entries()) {
      const expected = this.#case.expect[index] as Expected | undefined; // recorded beside the step
      for (const problem of await this.#step(step, expected ?? {})) problems.push(`step ${index + 1}: ${problem}`);
    }
    return problems;
  }

  async undo(): Promise<void> {
    for (const held of this.#held.values()) held.close();
    for (const command of this.#undo.toReversed()) this.#of.lab.sh(command);
    if (this.#isStopped || this.#case.env !== undefined) await this.#restart({});
    this.#of.part.cutOff = undefined;
  }

  async #step(step: Step, expected: Expected): Promise<readonly string[]> {
    const { lab, part, limits } = this.#of;
    const during = (step.during ?? []).map((text) => new During(readFlow(text), lab, limits.timeoutMs));
    for (const operation of step.do) await this.#do(operation);
    if (!this.#isStopped) await part.settled();
    const problems = await this.#untilAsRecorded(step, expected.flows ?? {});
    for (const [text, held] of this.#held) {
      const wanted = expected.held?.[text];
      const is = await held.check(limits.patienceMs, wanted ?? "alive");
      if (wanted !== undefined && is !== wanted) problems.push(`held ${text} expected ${wanted} got ${is}`);
    }
    for (const one of during) {
      const wanted = expected.during?.[one.flow.text];
      const is = await one.verdict();
      if (wanted !== undefined && is !== wanted) problems.push(`during ${one.flow.text} expected ${wanted} got ${is}`);
    }
    for (const text of step.hold ?? []) this.#held.set(text, await Held.open(readFlow(text), lab));
    return problems;
  }

  async #untilAsRecorded(step: Step, wanted: { readonly [flow: string]: string }): Promise<string[]> {
    const { lab, limits } = this.#of;
    const flows = flowsOf(step);
    const endMs = performance.now() + limits.patienceMs;
    let good = 0;
    // A slow machine answers late: whoever is waited for in vain is waited for longer the next time.
    for (let { timeoutMs } = limits; ; timeoutMs = Math.min(timeoutMs * (good === 0 ? 2 : 1), 5_000)) {
      const got = await probe(flows, { resolve: lab.resolve, servers: lab.servers, timeoutMs });
      const problems = flows.flatMap(({ text }) =>
        got.get(text) === wanted[text] ? [] : [`${text} expected ${wanted[text]} got ${got.get(text)}`],
      );
      good = problems.length === 0 ? good + 1 : 0;
      if (good === 2) return [];
      if (performance.now() > endMs && problems.length > 0) return problems;
    }
  }

  async #do(operation: Operation): Promise<void> {
    const { lab, part, runner } = this.#of;
    const { op, pods = [] } = operation;
    const touchesInterface = (operation as { readonly interface?: boolean }).interface !== false;
    if (op === "pod" && touchesInterface) for (const pod of pods) if (typeof pod !== "string") runner.plug(pod);
    if (op === "pod-delete" && touchesInterface)
      for (const pod of pods) runner.unplug(typeof pod === "string" ? pod : nameOf(pod));
    if (op === "pod-address") runner.readdress(operation.pod ?? "", operation.ips ?? []);
    if (op === "sh") {
      lab.sh(operation.run ?? "");
      const { undo } = operation as { readonly undo?: string };
      if (undo !== undefined) this.#undo.push(undo);
    }
    if (op === "wait") await sleep(300);
    if (op === "typha") part.cutOff = operation.do === "stop" ? "no server answers" : undefined;
    if (op === "agent") {
      if (operation.do !== "start") await part.stop();
      this.#isStopped = operation.do === "stop" || operation.do === "kill";
      if (!this.#isStopped) await this.#start();
    }
    this.#world.do(operation);
    part.sayAll(this.#world.said);
  }

  async #start(): Promise<void> {
    this.#of.part.start(settingsOf(this.#case.env ?? {}));
    await this.#of.part.settled();
  }

  async #restart(settings: { readonly [name: string]: string }): Promise<void> {
    await this.#of.part.stop();
    this.#of.part.start(settings);
    await this.#of.part.settled();
    this.#isStopped = false;
  }
}

function nameOf({ namespace, name }: PodOfWorld): string {
  return `${namespace}/${name}`;
}

function settingsOf(env: { readonly [name: string]: string }): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name.replace(/^FELIX_/, ""), value]));
}

// What the page knows of the server, kept fresh: the overview is pushed once a second as server-sent events; the other
// views ask for their JSON and ask again on each push while they are on screen.
import { useEffect, useRef, useState } from "preact/hooks";
import type { OverviewView } from "../src/typha/dashboard/contract.ts";
import { Question } from "./question.ts";

/** "lost": there was a connection and it is being tried again; what is on screen is the last that was heard. */
export type Link = "connecting" | "live" | "lost";

const retryMs = 2000;

/**
 * The server pushes every second, and every three at worst. Silence is counted in ticks of the page's own timer, not in
 * time: a page that slept, or that nobody sees, ticks seldom, and is not to take that for silence.
 */
const tickMs = 1000;
const ticksUntilLost = 5;
/** A connection can be dead without a word (a laptop that slept, a firewall that forgot it): then another is opened. */
const ticksUntilReopened = 10;

/** `heardAtMs` is by this machine's clock, which need not agree with the server's. */
export type Heard = { overview: OverviewView | undefined; heardAtMs: number | undefined; link: Link };

export function useOverview(): Heard {
  const [overview, setOverview] = useState<OverviewView>();
  const [heardAtMs, setHeardAtMs] = useState<number>();
  const [link, setLink] = useState<Link>("connecting");
  useEffect(() => {
    let events: EventSource;
    let retry = 0;
    let silentTicks = 0;
    const lose = () => setLink((before) => (before === "connecting" ? "connecting" : "lost"));
    const open = () => {
      events = new EventSource("/events");
      events.addEventListener("overview", (event) => {
        silentTicks = 0;
        setOverview(JSON.parse(event.data) as OverviewView); // our own server's JSON, shaped by contract.ts
        setHeardAtMs(Date.now());
        setLink("live");
      });
      events.onerror = () => {
        lose();
        // EventSource tries again by itself, unless it was answered with an error (too many pages): then we do.
        if (events.readyState === EventSource.CLOSED) retry = setTimeout(open, retryMs);
      };
    };
    const close = () => {
      clearTimeout(retry);
      events.close();
    };
    const ticking = setInterval(() => {
      silentTicks += 1;
      if (silentTicks >= ticksUntilLost) lose();
      if (silentTicks % ticksUntilReopened !== 0) return;
      close();
      open();
    }, tickMs);
    open();
    return () => {
      clearInterval(ticking);
      close();
    };
  }, []);
  return { overview, heardAtMs, link };
}

/** The time, once a second, for as long as there is no server to tell it. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

export type Answer<T> = { is: "loading" } | { is: "here"; value: T } | { is: "failed"; why: string };

/** The JSON at `path`, asked for again whenever `beat` changes. The old answer stays until the new one is here. */
export function useAnswer<T>(path: string, beat: number): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T> & { path?: string }>({ is: "loading" });
  const question = useRef<Question>(undefined);
  useEffect(() => {
    const asked = new Question(path, (heard) => {
      // Our own server's JSON, shaped by contract.ts.
      if (heard.is === "here") setAnswer({ is: "here", value: heard.value as T, path });
      else setAnswer((before) => (before.is === "here" && before.path === path ? before : { ...heard, path }));
    });
    question.current = asked;
    return () => asked.drop();
  }, [path]);
  // `beat` is not read in the effect; it is what makes it run again.
  useEffect(() => void question.current?.ask(), [path, beat]);
  return answer.path === path ? answer : { is: "loading" };
}

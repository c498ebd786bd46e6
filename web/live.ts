// What the page knows of the server, kept fresh: the overview is pushed once a second as server-sent events; the other
// views ask for their JSON and ask again on each push while they are on screen.
import { useEffect, useState } from "preact/hooks";
import type { OverviewView } from "../src/dashboard/contract.ts";

/** "lost": there was a connection and it is being tried again; what is on screen is the last that was heard. */
export type Link = "connecting" | "live" | "lost";

const retryMs = 2000;

export function useOverview(): { overview: OverviewView | undefined; link: Link } {
  const [overview, setOverview] = useState<OverviewView>();
  const [link, setLink] = useState<Link>("connecting");
  useEffect(() => {
    let events: EventSource;
    let timer = 0;
    const open = () => {
      events = new EventSource("/events");
      events.addEventListener("overview", (event) => {
        setOverview(JSON.parse(event.data) as OverviewView); // our own server's JSON, shaped by contract.ts
        setLink("live");
      });
      events.onerror = () => {
        setLink((before) => (before === "connecting" ? "connecting" : "lost"));
        // EventSource tries again by itself, unless it was answered with an error (too many pages): then we do.
        if (events.readyState === EventSource.CLOSED) timer = setTimeout(open, retryMs);
      };
    };
    open();
    return () => {
      clearTimeout(timer);
      events.close();
    };
  }, []);
  return { overview, link };
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
  // `beat` is not read in the effect; it is what makes it run again.
  useEffect(() => {
    const controller = new AbortController();
    fetch(path, { signal: controller.signal })
      .then(async (response) => {
        if (!response.ok) throw new Error((await response.text()) || `the server answered ${response.status}`);
        return (await response.json()) as T; // our own server's JSON, shaped by contract.ts
      })
      .then(
        (value) => setAnswer({ is: "here", value, path }),
        (error: unknown) => {
          if (controller.signal.aborted) return;
          const why = error instanceof Error ? error.message : String(error);
          setAnswer((before) => (before.is === "here" && before.path === path ? before : { is: "failed", why, path }));
        },
      );
    return () => controller.abort();
  }, [path, beat]);
  return answer.path === path ? answer : { is: "loading" };
}

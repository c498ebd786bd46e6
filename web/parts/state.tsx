// The states every list can be in before it has rows: being fetched, failed, and empty for a reason worth saying.
import type { ComponentChildren } from "preact";
import type { Answer } from "../live.ts";

export type WithAnswerProps<T> = {
  answer: Answer<T | null>;
  /** What to say where the server has no such thing. */
  missing?: string;
  children: (value: T) => ComponentChildren;
};

export function WithAnswer<T>({ answer, missing, children }: WithAnswerProps<T>) {
  if (answer.is === "loading") return <p class="quiet">Loading…</p>;
  if (answer.is === "failed") {
    return (
      <Empty title="No answer" role="alert">
        The server did not answer ({answer.why}). The page asks again every second.
      </Empty>
    );
  }
  if (answer.value === null) return <Empty title="Not there">{missing ?? "There is no such thing here."}</Empty>;
  return <>{children(answer.value)}</>;
}

export function Empty(props: { title: string; role?: "alert"; children: ComponentChildren }) {
  return (
    <div class="empty" role={props.role}>
      <strong>{props.title}</strong>
      <p>{props.children}</p>
    </div>
  );
}

// May these two talk, and which rule says so: a form with both ends, and the way of a packet through the policies, stage by stage.
import { useState } from "preact/hooks";
import type { ExplainedView, ExplainView } from "../../src/typha/dashboard/contract.ts";
import { useAnswer } from "../live.ts";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { linkTo } from "../route.ts";

const protocols = ["tcp", "udp", "sctp", "icmp"];

type Question = { readonly from: string; readonly to: string; readonly protocol: string; readonly port: string };

export function PairView({ nowMs, parameters }: { nowMs: number; parameters: URLSearchParams }) {
  const asked = questionOf(parameters);
  return (
    <>
      <h2>May they talk?</h2>
      <p class="quiet">
        Two pods (<code>namespace/name</code>), addresses, or nodes (<code>node/name</code>). The answer is what the
        policies say now; <code>cattail explain</code> gives the same on the command line.
      </p>
      <Form key={parameters.toString()} asked={asked} />
      {asked.from !== "" && asked.to !== "" && <Answered asked={asked} nowMs={nowMs} />}
    </>
  );
}

function questionOf(parameters: URLSearchParams): Question {
  const text = (name: string) => parameters.get(name) ?? "";
  return { from: text("from"), to: text("to"), protocol: text("protocol") || "tcp", port: text("port") };
}

function Form({ asked }: { asked: Question }) {
  const [question, setQuestion] = useState(asked);
  const change = (part: Partial<Question>) => setQuestion({ ...question, ...part });
  const isPing = question.protocol === "icmp";
  return (
    <search>
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault();
          const { port, ...rest } = question;
          location.hash = linkTo("pair", { ...rest, ...(isPing || port.trim() === "" ? {} : { port: port.trim() }) });
        }}
      >
        <label>
          From{" "}
          <input
            required
            value={question.from}
            placeholder="shop/web-0"
            onInput={(event) => change({ from: event.currentTarget.value.trim() })}
          />
        </label>
        <label>
          To{" "}
          <input
            required
            value={question.to}
            placeholder="shop/db-0"
            onInput={(event) => change({ to: event.currentTarget.value.trim() })}
          />
        </label>
        <label>
          Protocol{" "}
          <select value={question.protocol} onChange={(event) => change({ protocol: event.currentTarget.value })}>
            {protocols.map((name) => (
              <option key={name} value={name}>
                {name === "icmp" ? "ping" : name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Port{" "}
          <input
            inputMode="numeric"
            size={6}
            value={isPing ? "" : question.port}
            disabled={isPing}
            placeholder="every"
            onInput={(event) => change({ port: event.currentTarget.value })}
          />
        </label>
        <button type="submit">Ask</button>
      </form>
    </search>
  );
}

function Answered({ asked, nowMs }: { asked: Question; nowMs: number }) {
  const query = new URLSearchParams({ ...asked });
  const answer = useAnswer<ExplainView>(`/api/explain?${query}`, nowMs);
  return (
    <WithAnswer answer={answer}>
      {(view) =>
        view.is === "refused" ? (
          <Empty title="That cannot be answered" role="alert">
            {`${view.problem}. ${view.next}.`}
          </Empty>
        ) : (
          <>
            <h3>
              {view.source} → {view.destination}, {view.traffic}
            </h3>
            {view.answers.map((one) => (
              <Verdict key={one.ports} answer={one} />
            ))}
            {view.change !== null && <pre class="card advice">{view.change}</pre>}
            {view.staged.length > 0 && (
              <>
                <h3>With the staged policies enforced</h3>
                {view.staged.map((one) => (
                  <Verdict key={one.ports} answer={one} />
                ))}
              </>
            )}
          </>
        )
      }
    </WithAnswer>
  );
}

function Verdict({ answer }: { answer: ExplainedView }) {
  const word = answer.verdict === "allow" ? "Allowed" : "Denied";
  return (
    <section class="card" aria-label={answer.ports === null ? word : `${answer.ports}: ${word}`}>
      <h4 class={answer.verdict === "allow" ? "good" : "bad"}>
        {answer.ports === null ? word : `${capital(answer.ports)}: ${word.toLowerCase()}`}
      </h4>
      {answer.stages.length === 0 && <p class="quiet">No node on the way has anything to say about it.</p>}
      <ol class="policies stages">
        {answer.stages.map(({ where, outcome, lines }) => (
          <li key={where}>
            {where}: <strong>{outcome}</strong>
            <pre>{lines.join("\n")}</pre>
          </li>
        ))}
      </ol>
    </section>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

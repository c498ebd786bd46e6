// A program of a pod while something happens to its node: `serve PORT...` sends back what it gets, `hold ADDRESS PORT` keeps one connection with a byte
// each tenth of a second, `try ADDRESS PORT` attempts to connect again and again. On SIGTERM it prints what it has seen, as JSON.
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [job, ...words] = process.argv.slice(2);
const seen = { sent: 0, echoed: 0, longestGapMs: 0, connected: 0, refused: 0, lost: "", throughAt: [] as string[] };
process.once("SIGTERM", () => {
  console.log(JSON.stringify(seen));
  process.exit();
});

if (job === "serve") {
  for (const port of words)
    createServer((socket) => void socket.pipe(socket).on("error", () => undefined)).listen(Number(port), "0.0.0.0");
} else if (job === "hold") {
  const socket = connect(Number(words[1]), words[0]);
  let lastAt = performance.now();
  socket.on("data", ({ length }) => {
    const now = performance.now();
    seen.echoed += length;
    seen.longestGapMs = Math.max(seen.longestGapMs, Math.round(now - lastAt));
    lastAt = now;
  });
  socket.once("connect", () => {
    seen.connected++;
    setInterval(() => {
      if (seen.lost !== "") return;
      seen.sent++;
      socket.write("x");
    }, 100);
  });
  socket.on("error", (error) => (seen.lost ||= error.message));
  socket.on("close", () => (seen.lost ||= "closed"));
  setInterval(() => undefined, 60_000); // what was lost is told when it is asked for
} else {
  for (;;) {
    const socket = connect(Number(words[1]), words[0]);
    const outcome = await Promise.race([
      new Promise<string>((resolve) =>
        socket.once("connect", () => resolve("connected")).once("error", () => resolve("refused")),
      ),
      sleep(300, "refused"),
    ]);
    if (outcome === "connected") {
      seen.connected++;
      if (seen.throughAt.length < 500) seen.throughAt.push(new Date().toISOString().slice(11, 23));
    } else seen.refused++;
    socket.destroy();
    await sleep(50);
  }
}

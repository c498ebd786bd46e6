// Prints a file of gob values, as a Go program wrote it, as JSON lines; with --make it writes such a file first.
//
//   node --conditions=cattail-source examples/gob-to-json.ts --make visits.gob
//   node --conditions=cattail-source examples/gob-to-json.ts visits.gob
//
// The Go side, either way:
//
//   type Visit struct { Path string; At time.Time; Status int; Header map[string]string }
//   gob.NewEncoder(file).Encode(visit)      gob.NewDecoder(file).Decode(&visit)
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import {
  decoder,
  encoder,
  GobError,
  int,
  map,
  string,
  struct,
  time,
  timeFromMillis,
  timeToMillis,
  type ValueOf,
} from "cattail/gob";

const Visit = struct("Visit", { Path: string(), At: time(), Status: int(), Header: map(string(), string()) });
type Visit = ValueOf<typeof Visit>;

const [first = "", second] = process.argv.slice(2);
const file = first === "--make" ? second : first;
if (file === undefined || file === "") {
  console.error("usage: node --conditions=cattail-source examples/gob-to-json.ts [--make] FILE");
  process.exit(1);
}
try {
  if (first === "--make") await make(file);
  else await print(file);
} catch (error) {
  // What is no gob is a GobError; a file that cannot be read or written is the system's.
  if (!(error instanceof GobError) && !(error instanceof Error && "syscall" in error)) throw error;
  console.error(`${file}: ${error.message}`);
  process.exitCode = 1;
}

async function make(path: string): Promise<void> {
  const out = encoder(Visit); // one for the stream: it sends the type once
  const visits: Visit[] = [
    { Path: "/", At: timeFromMillis(1_700_000_000_000), Status: 200, Header: new Map([["Accept", "*/*"]]) },
    { Path: "/no", At: timeFromMillis(1_700_000_001_000), Status: 404, Header: new Map() },
  ];
  await writeFile(path, Buffer.concat(visits.map((visit) => out.encode(visit))));
}

async function print(path: string): Promise<void> {
  const stream = decoder(Visit, { messageBytes: 65_536 });
  for await (const chunk of createReadStream(path)) for (const visit of stream.push(chunk)) console.log(line(visit));
  stream.end();
}

function line({ Path, At, Status, Header }: Visit): string {
  const at = new Date(timeToMillis(At)).toISOString();
  return JSON.stringify({ path: Path, at, status: Status, header: Object.fromEntries(Header) });
}

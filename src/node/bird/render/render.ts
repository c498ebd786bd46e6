// Which files a BIRD reads, and what is in them.
import type { BgpIntent } from "../model/intent.ts";
import { renderBird1 } from "./bird1.ts";
import { renderBird2 } from "./bird2.ts";

/** 1: BIRD 1.6, a daemon for each family. 2: BIRD 2, one for both. */
export type Generation = 1 | 2;

export type MainFile = "bird.cfg" | "bird6.cfg";

/** Undefined: there shall be no such file. */
export type ConfigurationFiles = { readonly [file in MainFile]: string | undefined };

export function renderBird(intent: BgpIntent, generation: Generation): ConfigurationFiles {
  if (generation === 2) return { "bird.cfg": renderBird2(intent), "bird6.cfg": undefined };
  const of = (family: 4 | 6) => {
    const found = intent.families.find((each) => each.family === family);
    return found === undefined ? undefined : renderBird1(intent, found);
  };
  return { "bird.cfg": of(4), "bird6.cfg": of(6) };
}

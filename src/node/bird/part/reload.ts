// From rendered files to a BIRD that has read them: check, put in place, "configure". What BIRD refuses is said once, and what it had stays.
import { CattailError, messageOf } from "../../../base/lib/index.ts";
import type { PartWorld } from "../../part/index.ts";
import { askBird } from "../control-socket.ts";
import { ConfigurationFolder } from "../daemon/configuration-folder.ts";
import { type Checked, checkWithProgram, versionOfProgram } from "../daemon/programs.ts";
import { findProgram } from "../daemon/supervisor.ts";
import type { ConfigurationFiles, MainFile } from "../render/render.ts";
import type { BirdPartOptions } from "./options.ts";

export class Reloader {
  readonly folder: ConfigurationFolder;
  readonly #options: BirdPartOptions;
  readonly #world: PartWorld;
  /** The files that a daemon has not been told of since they were written. */
  readonly #untold = new Set<MainFile>();
  #refused: string | undefined;
  #unheard: string | undefined;

  constructor(options: BirdPartOptions, world: PartWorld) {
    this.#options = options;
    this.#world = world;
    this.folder = new ConfigurationFolder(options.folder);
  }

  /** Why BIRD's configuration is not the last one that was rendered. */
  get behind(): string | undefined {
    return this.#refused ?? this.#unheard;
  }

  async put(files: ConfigurationFiles, signal: AbortSignal): Promise<void> {
    const { log, metrics } = this.#world;
    const before = this.folder.inPlace;
    const generation = files["bird6.cfg"] === undefined ? 2 : 1;
    const checked = await this.folder.put(files, (file, path) => this.#check(file, path, generation, signal));
    if (checked.is === "refused") {
      const says = `BIRD refuses the configuration: ${checked.says}`;
      if (this.#refused !== says)
        log.error("BIRD refuses the new configuration; the last good one stays", { says: checked.says });
      this.#refused = says;
      metrics.add("cattail_bird_refused", undefined, 1);
      return;
    }
    if (this.#refused !== undefined) log.info("BIRD takes the configuration again");
    this.#refused = undefined;
    for (const file of ["bird.cfg", "bird6.cfg"] as const) {
      if (files[file] !== undefined && files[file] !== before?.[file]) this.#untold.add(file);
      if (files[file] === undefined) this.#untold.delete(file);
    }
    await this.again(signal);
  }

  /** Tells BIRD of what it has not heard yet: it may have been away, or have begun with the file before. */
  async again(signal: AbortSignal): Promise<void> {
    for (const file of this.#untold) await this.#tell(file, signal);
  }

  async #tell(file: MainFile, signal: AbortSignal): Promise<void> {
    const { log, metrics } = this.#world;
    try {
      await askBird(this.#socketOf(file), "configure", { signal, silenceMs: 10_000 });
      this.#untold.delete(file);
      this.#unheard = undefined;
      metrics.add("cattail_bird_reloads", undefined, 1);
      log.debug("BIRD has read its configuration", { file });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CattailError)) throw error;
      // Nobody is there: whoever starts it reads the file, and is told once more to be sure.
      if (error.code === "BIRD_UNREACHABLE") return;
      const says = `BIRD did not take the configuration: ${error.problem}`;
      if (this.#unheard !== says) log.error("BIRD did not take the configuration", { file, error: error.problem });
      this.#unheard = says;
      metrics.add("cattail_bird_refused", undefined, 1);
    }
  }

  #socketOf(file: MainFile): string {
    return file === "bird.cfg" ? this.#options.socket : this.#options.socket6;
  }

  /** By the program that will read it; where that is not here, by the one that runs; where none runs, by whoever starts it. */
  async #check(file: MainFile, path: string, generation: 1 | 2, signal: AbortSignal): Promise<Checked> {
    const { program, program6, path: folders } = this.#options;
    const found = findProgram(file === "bird.cfg" ? program : program6, folders);
    const version = found === undefined ? undefined : await this.#versionOf(found, signal);
    if (found !== undefined && version === generation) return checkWithProgram(found, path, signal);
    try {
      await askBird(this.#socketOf(file), `configure check "${path}"`, { signal, silenceMs: 10_000 });
      return { is: "good" };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CattailError)) throw error;
      return error.code === "BIRD_UNREACHABLE" ? { is: "good" } : { is: "refused", says: messageOf(error) };
    }
  }

  readonly #versions = new Map<string, 1 | 2 | undefined>();

  async #versionOf(program: string, signal: AbortSignal): Promise<1 | 2 | undefined> {
    if (!this.#versions.has(program))
      this.#versions.set(program, (await versionOfProgram(program, signal))?.generation);
    return this.#versions.get(program);
  }
}

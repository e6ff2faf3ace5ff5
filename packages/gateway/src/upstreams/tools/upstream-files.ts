import { mkdirSync, readdirSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { readSourceFile } from '../../text/source-file.ts';
import { readYaml } from '../../text/read-yaml.ts';
import { YamlReader } from '../../text/yaml-reader.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { SkippedFile } from '../../programs/find-tool-files.ts';
import type { PinnedPackage, StdioEndpoint, UpstreamConfig } from '../upstream-config.ts';
import type { ReadUpstreams } from '../upstreams.ts';
import { readUpstream } from './read-upstream.ts';
import type { UpstreamFile } from './read-upstream.ts';

/** Why the server would not see what it needs. Empty: it sees everything. */
export type ExplainProtected = (endpoint: StdioEndpoint) => readonly string[];

/** The folder with one YAML file for each upstream server. */
export class UpstreamFiles {
  readonly folder: string;
  readonly #isReserved: UpstreamFile['isReserved'];
  readonly #explainProtected: ExplainProtected;

  constructor(folder: string, isReserved: UpstreamFile['isReserved'], explainProtected: ExplainProtected) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.folder = folder;
    this.#isReserved = isReserved;
    this.#explainProtected = explainProtected;
  }

  /** A file with a mistake is left out, and the mistake is reported with its line. */
  readonly read = (): ReadUpstreams => {
    const configs = new Map<string, UpstreamConfig>();
    const skipped: SkippedFile[] = [];
    const files = readdirSync(this.folder).filter((name) => /^[^.].*\.ya?ml$/.test(name));
    for (const file of files.sort()) {
      const { bytes, problem } = readSourceFile(join(this.folder, file));
      const { config, problems } = this.#parse(file, bytes, problem);
      for (const reason of problems) skipped.push({ file, reason });
      if (config === undefined) continue;
      const other = configs.get(config.name);
      if (other === undefined) configs.set(config.name, config);
      else skipped.push({ file, reason: `${other.file} already names the upstream ${config.name}` });
    }
    return { configs: [...configs.values()], skipped };
  };

  /** Throws ToolFailure when the contents are not valid, or an upstream of this name exists. */
  check(name: string, contents: object): string {
    // The writer knows plain objects only.
    const plain: unknown = JSON.parse(JSON.stringify({ name, ...contents }));
    const text = dump(plain, { lineWidth: -1 });
    const { config, problems: mistakes } = this.#parse(`${name}.yaml`, Buffer.from(text));
    const problems =
      config?.endpoint.kind === 'stdio' ? [...mistakes, ...this.#explainProtected(config.endpoint)] : mistakes;
    if (problems.length > 0) {
      throw new ToolFailure('EXECUTION_ERROR', problems.join('\n'), { category: 'validation_failed' });
    }
    if (this.read().configs.some((other) => other.name === name)) {
      throw new ToolFailure('ALREADY_EXISTS', `There is already an upstream ${name}. Remove it first.`);
    }
    return text;
  }

  /** Atomic: the file is written completely or not at all. */
  async write(name: string, text: string): Promise<void> {
    const draft = join(this.folder, `.${randomUUID()}`);
    try {
      await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
      await rename(draft, join(this.folder, `${name}.yaml`));
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Whether any file names this package, also one with mistakes in it. */
  mentions({ sha256 }: PinnedPackage): boolean {
    const files = readdirSync(this.folder).filter((file) => /\.ya?ml$/.test(file));
    const bytes = files.map((file) => readSourceFile(join(this.folder, file)).bytes ?? new Uint8Array());
    return bytes.some((each) => Buffer.from(each).includes(sha256));
  }

  async remove(config: UpstreamConfig): Promise<void> {
    await rm(join(this.folder, config.file), { force: true });
  }

  #parse(
    file: string,
    bytes: Uint8Array | undefined,
    problem?: string,
  ): { readonly config: UpstreamConfig | undefined; readonly problems: readonly string[] } {
    const source = readYaml({ file, ...(bytes && { bytes }), ...(problem !== undefined && { problem }) });
    const reader = new YamlReader(source);
    const stem = file.replace(/\.ya?ml$/, '');
    const config = source.root && readUpstream(source.root, reader, { file, stem, isReserved: this.#isReserved });
    const problems = [...source.problems, ...reader.problems].map(
      ({ line, column, message }) => `line ${line}, column ${column}: ${message}`,
    );
    if (problems.length === 0 && config === undefined) problems.push('line 1, column 1: the file is empty');
    return { config: problems.length > 0 ? undefined : config, problems };
  }
}

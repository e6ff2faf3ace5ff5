import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readLines } from '../../terminal/read-lines.ts';
import { isHookOf } from './edit-hooks.ts';
import { readTables, replaceTables } from './edit-toml.ts';
import type { KnownClient } from './known-clients.ts';

/** Where Codex writes down which hooks a person has trusted, by the place and the content of each. */
const kind = 'hooks.state';
const patienceMs = 30_000;

/** A hook as Codex sees it. */
interface SeenHook {
  readonly key: string;
  readonly command?: string;
  readonly sourcePath?: string;
  readonly currentHash: string;
  /** `trusted` and `managed` hooks run; Codex passes over all others. */
  readonly trustStatus: string;
}

/** The entries of trusted hooks, by key. */
export type Trust = Readonly<Record<string, string>>;

/**
 * What Codex would write down if somebody trusted our hooks in it. Codex says so itself, about a copy of the file; its own
 * files are not touched. Empty: it is not on the PATH, or does not answer.
 */
export async function findTrust({ hooks }: KnownClient, hooksText: string, scratchFolder: string): Promise<Trust> {
  if (hooks === undefined) return {};
  mkdirSync(scratchFolder, { recursive: true, mode: 0o700 });
  const copy = mkdtempSync(join(realpathSync(scratchFolder), 'codex-'));
  try {
    const file = join(copy, 'hooks.json');
    writeFileSync(file, hooksText);
    const seen = (await listHooks(copy, copy)) ?? [];
    return Object.fromEntries(
      seen
        .filter(({ key, sourcePath }) => sourcePath === file && key.startsWith(file))
        .filter(isOurs)
        .map(({ key, currentHash }) => [`${hooks.file}${key.slice(file.length)}`, currentHash]),
    );
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Whether Codex runs our hooks in a project. `unknown`: it is not on the PATH, or does not answer. */
export async function askTrust({ hooks }: KnownClient, root: string): Promise<'trusted' | 'untrusted' | 'unknown'> {
  const seen = hooks && (await listHooks(dirname(hooks.file), root));
  if (seen === undefined) return 'unknown';
  const ours = seen.filter(isOurs);
  return ours.length > 0 && ours.every(({ trustStatus }) => trustStatus === 'trusted' || trustStatus === 'managed')
    ? 'trusted'
    : 'untrusted';
}

/** Throws SettingsUnclear. */
export function putTrust(text: string, trust: Trust): string {
  return Object.entries(trust).reduce(
    (edited, [key, hash]) => replaceTables(edited, kind, { without: [], put: [key, { trusted_hash: hash }] }),
    text,
  );
}

/** Takes out what was not there before. Throws SettingsUnclear. */
export function dropTrust(text: string, before: string, { hooks }: KnownClient): string {
  const former = readTables(before, kind);
  const without = Object.keys(readTables(text, kind)).filter(
    (key) => hooks !== undefined && key.startsWith(`${hooks.file}:`) && !(key in former),
  );
  return without.length === 0 ? text : replaceTables(text, kind, { without });
}

const isOurs = ({ command }: SeenHook): boolean => isHookOf('codex', command);

/** Undefined: Codex does not say. */
async function listHooks(codexHome: string, cwd: string): Promise<readonly SeenHook[] | undefined> {
  const child = spawn('codex', ['app-server'], {
    cwd,
    env: { ...process.env, CODEX_HOME: codexHome },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'sallyport', version: '1' } } });
  try {
    for await (const line of readLines(child.stdout)) {
      const { id, result, error } = JSON.parse(line) as { id?: unknown; result?: unknown; error?: unknown };
      if (error !== undefined) return undefined;
      if (id === 1) {
        send({ method: 'initialized' });
        send({ id: 2, method: 'hooks/list', params: { cwds: [cwd] } });
      }
      if (id === 2) {
        return (result as { data: readonly { readonly hooks: readonly SeenHook[] }[] }).data.flatMap(
          ({ hooks }) => hooks,
        );
      }
    }
  } catch {
    // An answer in another form than the one that is known.
  } finally {
    clearTimeout(timer);
    child.kill();
  }
  return undefined;
}

import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const sourceFolder = import.meta.dirname;
/** What tools may import, and from which file. Tools do not get the client of the gate. */
const entries = { '.': 'index', './testing': 'test-tool' };
const extension = import.meta.filename.slice(-'.ts'.length);
const localImport = /(['"]\.\/)([a-z-]+)\.[jt]s(['"])/g;

/**
 * Writes the package as plain JavaScript into a folder, which it makes: Node does not strip types below node_modules,
 * where tools find the package. Everyone may read it, because tools run as nobody. Not atomic.
 */
export function buildSdk(folder: string): void {
  mkdirSync(folder);
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text, { flush: true });
    // Whatever the umask says.
    chmodSync(join(folder, name), 0o644);
  };
  withoutWarning(() => {
    for (const [name, text] of readSources()) write(`${name}.js`, extension === '.ts' ? toJavaScript(text) : text);
  });
  write('package.json', describePackage());
  chmodSync(folder, 0o755);
}

/** Changes whenever `buildSdk` would write something else. */
export function hashSdk(): string {
  const hash = createHash('sha256').update(process.version).update(describePackage());
  for (const [name, text] of readSources()) hash.update(`${name}\0${text}\0`);
  return hash.digest('hex').slice(0, 32);
}

/** The entries and what they import: TypeScript in a checkout, JavaScript in a published package. */
function readSources(): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  const read = (name: string): void => {
    if (sources.has(name)) return;
    const text = readFileSync(join(sourceFolder, name + extension), 'utf8');
    sources.set(name, text);
    for (const [, , imported = ''] of text.matchAll(localImport)) read(imported);
  };
  for (const name of Object.values(entries)) read(name);
  return sources;
}

function toJavaScript(text: string): string {
  return stripTypeScriptTypes(text).replace(localImport, '$1$2.js$3');
}

function describePackage(): string {
  const { version } = JSON.parse(readFileSync(join(sourceFolder, '../package.json'), 'utf8')) as { version: string };
  const exports = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, `./${file}.js`]));
  return `${JSON.stringify({ name: '@sallyport/sdk', version, type: 'module', exports }, null, 2)}\n`;
}

/** Stripping is experimental, and says so once a process, on stderr; a person who starts a daemon need not know. */
function withoutWarning(work: () => void): void {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

import type { CodeSplittingOptions, OutputChunk } from 'rolldown';

const mainProgram = 'main';
const daemonModule = 'packages/cli/src/commands/daemon/up.ts';
/** A command that loads less than this is one that somebody waits for. */
const lightBytes = 400_000;

/**
 * Puts modules together that are loaded together. By itself a bundler makes a file of every set of modules that the same
 * programs share, and a start of the daemon would find, read and link ninety of them. Takes the chunks that are made without
 * groups. What a group imports is in the same one or in one that does not import it: each set holds whatever its own
 * modules need.
 */
export function groupModules(chunks: readonly OutputChunk[]): CodeSplittingOptions {
  const isDaemon = ({ facadeModuleId }: OutputChunk): boolean => facadeModuleId?.endsWith(daemonModule) === true;
  const others = chunks
    .filter((chunk) => chunk.isDynamicEntry && !isDaemon(chunk))
    .map((chunk) => load(chunks, [chunk]));
  const threads = load(
    chunks,
    chunks.filter(({ isEntry, name }) => isEntry && name !== mainProgram),
  );
  const main = load(
    chunks,
    chunks.filter(({ isEntry, name }) => isEntry && name === mainProgram),
  );
  const daemon = load(chunks, chunks.filter(isDaemon));
  const light = new Set(others.filter(({ bytes }) => bytes < lightBytes).flatMap(({ modules }) => [...modules]));
  const shared = new Set(others.flatMap(({ modules }) => [...modules]));
  const name = (id: string): string | null => {
    if (threads.modules.has(id)) return null;
    if (main.modules.has(id)) return 'main-parts';
    if (!daemon.modules.has(id) || !shared.has(id)) return null;
    return light.has(id) ? 'command-parts' : 'daemon-parts';
  };
  return { groups: [{ name, debugName: 'loaded together' }], includeDependenciesRecursively: false };
}

interface Loaded {
  readonly modules: ReadonlySet<string>;
  readonly bytes: number;
}

/** What is loaded with these chunks, whatever else may be loaded later. */
function load(chunks: readonly OutputChunk[], roots: readonly OutputChunk[]): Loaded {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const loaded = new Set(roots);
  for (const { imports } of loaded) {
    for (const file of imports) {
      const next = byFile.get(file);
      // Undefined: a part of Node, or a package that is not bundled.
      if (next !== undefined) loaded.add(next);
    }
  }
  const all = [...loaded];
  return {
    modules: new Set(all.flatMap(({ moduleIds }) => moduleIds)),
    bytes: all.reduce((sum, { code }) => sum + code.length, 0),
  };
}

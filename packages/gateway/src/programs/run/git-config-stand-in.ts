import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

const maxBytes = 256 * 1024;

/** What git must know to read a repository at all. None of it can hold a credential. */
const kept: Readonly<Record<string, RegExp>> = {
  'core.repositoryformatversion': /^[0-9]$/,
  'core.bare': /^(?:true|false)$/i,
  'core.filemode': /^(?:true|false)$/i,
  'core.ignorecase': /^(?:true|false)$/i,
  'core.symlinks': /^(?:true|false)$/i,
  'core.precomposeunicode': /^(?:true|false)$/i,
  'core.autocrlf': /^(?:true|false|input)$/i,
  'core.sparsecheckout': /^(?:true|false)$/i,
  'core.sparsecheckoutcone': /^(?:true|false)$/i,
  'extensions.objectformat': /^(?:sha1|sha256)$/i,
  'extensions.refstorage': /^(?:files|reftable)$/i,
  'extensions.worktreeconfig': /^(?:true|false)$/i,
  'extensions.noop': /^[a-z]*$/i,
};

/**
 * What a program sees instead of the configuration of a repository that the rules hide: git refuses to work in a
 * repository whose configuration it cannot read. Addresses, headers and helpers, where credentials stand, are left out.
 * Undefined: the path is not such a file.
 */
export function standInForGitConfig(path: string): string | undefined {
  // That of a submodule is in `.git/modules/NAME`, and a name may have slashes.
  if (!/\/\.git\/(?:modules\/.+\/)?config$/.test(path)) return undefined;
  const text = readSmallFile(path);
  return text === undefined ? undefined : keepHarmless(text);
}

/** Lines that do not stand alone, such as continued ones, are no plain values and are left out. */
export function keepHarmless(text: string): string {
  let section = '';
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const [, opened] = /^\s*\[([a-z]+)\]\s*$/i.exec(line) ?? [];
    if (line.trimStart().startsWith('[')) section = opened?.toLowerCase() ?? '';
    const [, key = '', value = ''] = /^\s*([a-z]+)\s*=\s*(\S*)\s*$/i.exec(line) ?? [];
    const name = `${section}.${key.toLowerCase()}`;
    if (kept[name]?.test(value) === true) lines.push(`[${section}] ${key.toLowerCase()} = ${value}\n`);
  }
  return lines.join('');
}

function readSmallFile(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(descriptor, 'utf8') : undefined;
  } finally {
    closeSync(descriptor);
  }
}

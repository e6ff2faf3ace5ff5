import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface ConsoleFile {
  /** As browsers ask for it. */
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The built console, read whole, so that a page never meets the scripts of another build. Undefined when no folder holds
 * one. What is no page, script, style or picture is not served.
 */
export function readConsole(folders: readonly string[]): readonly ConsoleFile[] | undefined {
  for (const folder of folders) {
    try {
      return readFolder(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

function readFolder(folder: string): ConsoleFile[] {
  const page = { path: '/', type: 'text/html; charset=utf-8', bytes: readFileSync(join(folder, 'index.html')) };
  const assets = readdirSync(join(folder, 'assets')).flatMap((name) => {
    const type = types[extname(name)];
    return type === undefined
      ? []
      : [{ path: `/assets/${name}`, type, bytes: readFileSync(join(folder, 'assets', name)) }];
  });
  return [page, ...assets];
}

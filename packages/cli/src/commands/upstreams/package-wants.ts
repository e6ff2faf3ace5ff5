import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FetchedPackage } from '../tools/npm-package.ts';

/** What the code of a package names: hints for the person who grants, and no promise. */
export interface PackageWants {
  readonly variables: readonly string[];
  readonly hosts: readonly string[];
}

const mostBytes = 8 * 1024 * 1024;
const mostNames = 12;
const source = /\.(?:[cm]?js|json)$/;
const variable = /\b(?:process\.)?env(?:\.([A-Z][A-Z0-9_]{2,60})\b|\[["']([A-Z][A-Z0-9_]{2,60})["']\])/g;
const address = /\bhttps:\/\/((?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,18})(?=[/"'`:?]|$)/g;
/** Of the runtime, of terminals and of tests. */
const usualVariables =
  /^(?:NODE_\w+|npm_\w+|PATH|HOME|USER|SHELL|TMPDIR|TEMP|TMP|TERM\w*|COLORTERM|CI|DEBUG|\w*NO_COLOR|FORCE_COLOR|\w*_PROXY|PORT|HOST|LANG|APPDATA|LOCALAPPDATA|USERPROFILE)$/;
/** Where code is explained rather than called. */
const usualHosts =
  /(?:^|\.)(?:json-schema\.org|w3\.org|npmjs\.(?:com|org)|nodejs\.org|mozilla\.org|ietf\.org|rfc-editor\.org|schema\.org|example\.(?:com|org|net)|opensource\.org|apache\.org|modelcontextprotocol\.io|spdx\.org|unpkg\.com|shields\.io|githubusercontent\.com|stackoverflow\.com|wikipedia\.org)$|^(?:www\.)?github\.com$/;

/** Looks through the package itself, not through what it depends on. */
export async function readWants({
  folder,
  name,
  parts,
}: Pick<FetchedPackage, 'folder' | 'name' | 'parts'>): Promise<PackageWants> {
  const own = `node_modules/${name}/`;
  const files = parts.filter(({ path }) => path.startsWith(own) && !path.slice(own.length).startsWith('node_modules/'));
  const variables = new Set<string>();
  const hosts = new Set<string>();
  let left = mostBytes;
  for (const { path, sizeBytes } of files) {
    if (!source.test(path) || sizeBytes > left) continue;
    left -= sizeBytes;
    const text = await readFile(join(folder, path), 'utf8');
    for (const [, dotted, quoted] of text.matchAll(variable)) {
      const found = dotted ?? quoted ?? '';
      if (!usualVariables.test(found)) variables.add(found);
    }
    for (const [, host = ''] of text.matchAll(address)) if (!usualHosts.test(host)) hosts.add(host);
  }
  return { variables: [...variables].sort().slice(0, mostNames), hosts: [...hosts].sort().slice(0, mostNames) };
}

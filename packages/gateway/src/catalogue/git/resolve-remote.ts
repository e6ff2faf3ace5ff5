import { existsSync, realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attempt } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import type { Access } from '@sallyport/sandbox';
import { checkHost, parseHostPattern, HostRefused } from '@sallyport/sandbox';
import type { GitSandbox, Reach } from './git-sandbox.ts';
import type { Setting } from './git-settings.ts';

/** The host of an https address, as rules name it. Undefined: it is no such address. */
export function hostOf(address: string): string | undefined {
  if (!/^https:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  const { hostname, port } = new URL(address);
  return port === '' ? hostname : `${hostname}:${port}`;
}

/** Whether it is an address rather than the name of a remote. */
export function isAddress(remote: string): boolean {
  return /[:/\\]|^\.{1,2}$/.test(remote);
}

/**
 * What git may reach to speak with a remote: the one host of its address, if the rules grant it, or the one folder it
 * lies in. Throws ToolRefused for every other kind of address.
 */
export async function resolveRemote(
  remote: string,
  way: 'fetch' | 'push',
  git: GitSandbox,
  context: ToolContext,
): Promise<Reach & { readonly addresses: readonly string[] }> {
  const addresses = isAddress(remote)
    ? [remote]
    : await git.list(['remote', 'get-url', '--all', ...(way === 'push' ? ['--push'] : []), remote], {
        separator: '\n',
      });
  const reach = joinReach(addresses.map((address) => reachAddress(address, way, git.repository.top, context)));
  return { ...reach, addresses };
}

export function reachAddress(address: string, way: 'fetch' | 'push', base: string, context: ToolContext): Reach {
  const host = hostOf(address);
  if (host !== undefined) return reachHost(host, context);
  const path = pathOf(address);
  if (path === undefined) {
    throw new ToolRefused(
      refuse('NO_RULE_ALLOWS', 'git-transport', 'The remote is neither an https address nor a folder.', {
        remedy: 'Give the remote an https address.',
      }),
    );
  }
  return reachFolder(resolve(base, path), way === 'push' ? 'write' : 'read', context);
}

/** Undefined: it is an address of another kind. */
function pathOf(address: string): string | undefined {
  if (!/^file:/i.test(address)) return /^[^/]*:|^-/.test(address) ? undefined : address;
  return attempt(() => fileURLToPath(address));
}

function reachHost(host: string, context: ToolContext): Reach {
  try {
    const target = checkHost(host, context.grants.hosts.map(parseHostPattern), { defaultPort: 443 });
    const hosts = [`${target.host}:${target.port}`];
    return { hosts, protocols: ['https'], folders: [], settings: authorize(host, context) };
  } catch (error) {
    if (!(error instanceof HostRefused)) throw error;
    throw new ToolRefused(
      refuse('NO_RULE_ALLOWS', 'git-host', `Git may not reach the host of the remote: ${error.message}`, {
        remedy: 'Give the remote another address.',
        ...(error.remedy === undefined ? {} : { forOperators: error.remedy }),
      }),
    );
  }
}

/** A token among the secrets that the rules grant, for this host only. */
function authorize(host: string, { readSecrets }: ToolContext): readonly Setting[] {
  const { GIT_TOKEN: token, GIT_USERNAME: user = 'x-access-token' } = readSecrets();
  if (token === undefined) return [];
  const credentials = Buffer.from(`${user}:${token}`).toString('base64');
  return [[`http.https://${host}/.extraHeader`, `Authorization: Basic ${credentials}`]];
}

function reachFolder(path: string, access: Access, context: ToolContext): Reach {
  const real = realPathOf(path);
  // What does not exist is answered like what may not be looked at.
  if (real === undefined || context.paths.judge(real, access) !== undefined) {
    throw new ToolRefused(
      refuse('NO_RULE_ALLOWS', 'git-remote', 'The remote is in a folder that the rules do not allow.'),
    );
  }
  // Files of a folder are judged by their paths, and would come to have others.
  if (basename(real) === '.git' || existsSync(join(real, '.git'))) {
    throw new ToolRefused(
      refuse('UNSAFE_PATH', 'git-remote', 'The remote is a folder that people work in.', {
        remedy: 'Use a bare repository, or an https address.',
      }),
    );
  }
  return { hosts: [], protocols: ['file'], folders: [{ path: real, access }], settings: [] };
}

function realPathOf(path: string): string | undefined {
  return attempt(() => realpathSync.native(path));
}

function joinReach(parts: readonly Reach[]): Reach {
  return {
    hosts: [...new Set(parts.flatMap(({ hosts }) => hosts))],
    protocols: [...new Set(parts.flatMap(({ protocols }) => protocols))],
    folders: parts.flatMap(({ folders }) => folders),
    settings: parts.flatMap(({ settings }) => settings),
  };
}

/** Addresses may hold passwords, which git prints with them. */
export function hideUserinfo(text: string): string {
  return text.replaceAll(/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]{1,4096}@/gi, '$1***@');
}

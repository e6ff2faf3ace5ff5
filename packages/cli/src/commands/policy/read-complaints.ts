import type { Access } from '@sallyport/sandbox';

/** Something that a program says it could not get at. */
export type Complaint =
  /** Absolute, or relative to where it ran. */
  | { readonly kind: 'path'; readonly path: string; readonly access: Access }
  /** A name, with a port where it was told. */
  | { readonly kind: 'host'; readonly host: string }
  /** It wanted to reach something, but did not say what. */
  | { readonly kind: 'network' };

const unreadable = /no such file\b|directory nonexistent|\bENOENT\b|permission denied|\bEACCES\b/i;
const unwritable = /read-only file system|\bEROFS\b/i;
const writing = /cannot (?:create|touch|remove|move|make)|\b(?:mkdir|unlink|rename|rmdir|copyfile|symlink|chmod)\b/i;
const noNetwork =
  /name resolution|network is unreachable|\bENETUNREACH\b|name or service not known|nodename nor servname|\bEAI_AGAIN\b/i;

const host = String.raw`([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d+)?)`;
const hostSayings = [
  String.raw`getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ${host}`,
  String.raw`could not resolve host: ${host}`,
  String.raw`unable to resolve host address \W?${host}`,
  String.raw`no such host:? ${host}`,
  String.raw`lookup ${host}(?: on|:)`,
  String.raw`does not connect to ${host}`,
].map((saying) => new RegExp(saying, 'gi'));
const hostAndPort = /host='([^']+)', port=(\d+)/gi;
const grantedTo = /Sallyport refused to connect it to ((?:[\w.-]+:\d+(?:, )?)+)/g;

const mostText = 100_000;
/** No path is told in a longer one. */
const longestLine = 2000;

/** Reads what a program wrote for people. What programs say is as various as their authors: this knows the usual ways. */
export function readComplaints(text: string): readonly Complaint[] {
  const lines = text
    .slice(-mostText)
    .split('\n')
    .filter((line) => line.length <= longestLine);
  const said = lines.join('\n');
  const hosts = lines.flatMap(readHosts);
  const paths = lines.flatMap(readPath);
  const isCutOff = hosts.length === 0 && noNetwork.test(said);
  const found: Complaint[] = [...paths, ...hosts, ...(isCutOff ? [{ kind: 'network' } as const] : [])];
  const distinct = new Map(found.map((complaint) => [JSON.stringify(complaint), complaint]));
  return [...distinct.values()];
}

function readHosts(text: string): readonly Complaint[] {
  const named = hostSayings.flatMap((saying) => [...text.matchAll(saying)].map(([, name = '']) => name));
  const pairs = [...text.matchAll(hostAndPort)].map(([, name = '', port = '']) => `${name}:${port}`);
  const refused = [...text.matchAll(grantedTo)].flatMap(([, names = '']) => names.split(', ').filter(Boolean));
  return [...named, ...pairs, ...refused].map((name) => ({ kind: 'host', host: name.toLowerCase() }));
}

/** The path that a line is about: in quotes, or right before the reason. */
function readPath(line: string): readonly Complaint[] {
  const isWrite = unwritable.test(line);
  if (!isWrite && !unreadable.test(line)) return [];
  const quoted = [...line.matchAll(/'([^']+)'|"([^"]+)"|‘([^’]+)’/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
  const end = line.search(/: (?:no such|permission|read-only|directory nonexistent)/i);
  const before = line.slice(0, Math.max(end, 0)).split(': ').at(-1) ?? '';
  const path = quoted.find((each) => isPath(each)) ?? /(?:^|\s)(\/\S.*)$/.exec(before)?.[1] ?? before.trim();
  if (!isPath(path)) return [];
  return [{ kind: 'path', path, access: isWrite || writing.test(line) ? 'write' : 'read' }];
}

function isPath(text: string): boolean {
  return (
    text.length < 4096 && (text.startsWith('/') || /^[\w.-][\w./-]*$/.test(text)) && !/^\/(?:tool|proc)\//.test(text)
  );
}

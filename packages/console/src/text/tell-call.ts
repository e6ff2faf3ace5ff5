import { readText } from '../live/call.ts';
import type { Outcome } from '../live/call.ts';

export interface ToldCall {
  /** Such as “wrote” or “asks to write”. */
  readonly verb: string;
  /** What it is about, as the caller named it. Empty: nothing in particular. */
  readonly object: string;
  /** How it went, in few words. Empty: there is nothing to add. */
  readonly detail: string;
}

/** The past, and the form after “to”. */
type Verb = readonly [past: string, plain: string];

const verbs: Readonly<Record<string, Verb>> = {
  'files.read': ['read', 'read'],
  'files.write': ['wrote', 'write'],
  'files.edit': ['edited', 'edit'],
  'files.delete': ['deleted', 'delete'],
  'files.list': ['listed', 'list'],
  'files.search': ['searched for', 'search for'],
  'files.move_glob': ['moved', 'move'],
  'files.ensure_dir': ['made the folder', 'make the folder'],
  'files.undo': ['took back', 'take back'],
  'code.search': ['searched the code for', 'search the code for'],
  'code.definition': ['looked up', 'look up'],
  'code.test': ['ran the tests of', 'run the tests of'],
  'code.lint': ['checked the code of', 'check the code of'],
  'logs.search': ['searched the logs for', 'search the logs for'],
  'shell.run': ['ran', 'run'],
  'web.fetch': ['fetched', 'fetch'],
  'web.search': ['searched the web for', 'search the web for'],
  'http.get': ['fetched', 'fetch'],
  'http.post': ['sent to', 'send to'],
  'http.put': ['sent to', 'send to'],
  'http.delete': ['deleted', 'delete'],
  'database.read': ['asked the database', 'ask the database'],
  'database.write': ['changed the database', 'change the database'],
  'inference.call': ['asked the model', 'ask the model'],
  'plans.propose': ['proposed a plan', 'propose a plan'],
  'sessions.create': ['let in', 'let in'],
  'sessions.end': ['ended the session', 'end the session'],
  'leases.grant': ['gave a lease to', 'give a lease to'],
  'leases.revoke': ['revoked the lease of', 'revoke the lease of'],
  'mode.set': ['changed the mode to', 'change the mode to'],
  'people.add': ['added', 'add'],
  'people.revoke': ['revoked', 'revoke'],
  'teams.put': ['made the team', 'make the team'],
  'teams.remove': ['removed the team', 'remove the team'],
  'agents.create': ['added the agent', 'add the agent'],
  'agents.delete': ['removed the agent', 'remove the agent'],
  'secrets.set': ['stored the secret', 'store the secret'],
  'secrets.remove': ['removed the secret', 'remove the secret'],
  'policy.allow': ['allowed such calls as', 'allow such calls as'],
  'upstreams.add': ['added the upstream', 'add the upstream'],
  'upstreams.remove': ['removed the upstream', 'remove the upstream'],
  'upstreams.accept': ['accepted the tools of', 'accept the tools of'],
  'approvals.approve': ['approved', 'approve'],
  'approvals.deny': ['denied', 'deny'],
  'client.edit': ['edited', 'edit'],
};

/** They need no object. */
const wholeVerbs: Readonly<Record<string, Verb>> = {
  'policy.apply': ['put the rule files in force', 'put the rule files in force'],
  'policy.init': ['wrote a copy of the shipped rules', 'write a copy of the shipped rules'],
};

/** The arguments that say what a call is about, the most telling first. */
const telling = [
  ...['path', 'paths', 'command', 'url', 'query', 'content', 'from', 'sql', 'name', 'title', 'id', 'agent', 'mode'],
  ...['session_id', 'task_id', 'call', 'call_id', 'summary', 'prompt', 'message'],
];
/** In these, what is searched for says more than where. */
const searching = /\.search$/;
const longestObject = 120;

/** A call as the rest of a sentence that begins with its agent. Everything in it was chosen by others. */
export function tellCall(tool: string, args: unknown, summary: string, outcome: Outcome): ToldCall {
  const whole = Object.hasOwn(wholeVerbs, tool) ? wholeVerbs[tool] : undefined;
  if (whole !== undefined) return { verb: verbFor(outcome, ...whole), object: '', detail: detailOf(summary, outcome) };
  const isGit = tool.startsWith('git.');
  const known = Object.hasOwn(verbs, tool) ? verbs[tool] : undefined;
  const [past, plain] = known ?? (isGit ? ['ran', 'run'] : ['called', 'call']);
  const object = objectOf(tool, args);
  const isNamed = known !== undefined || isGit;
  // Of some refusals the log keeps no arguments: then the tool has to stand for what it was about.
  if (object === '')
    return { verb: verbFor(outcome, 'called', 'call'), object: tool, detail: detailOf(summary, outcome) };
  const named = isNamed ? object : `${tool} ${object}`;
  return { verb: verbFor(outcome, past, plain), object: named, detail: detailOf(summary, outcome) };
}

function verbFor(outcome: Outcome, past: string, plain: string): string {
  switch (outcome) {
    case 'ok':
      return past;
    case 'waiting':
      return `asks to ${plain}`;
    case 'denied':
      return `may not ${plain}`;
    case 'running':
      return `is about to ${plain}`;
    case 'unknown':
      return `may have ${past}`;
    case 'error':
    case 'fault':
      return `failed to ${plain}`;
  }
}

function objectOf(tool: string, args: unknown): string {
  const { argv, args: words, patterns, from, to } = (args ?? {}) as Readonly<Record<string, unknown>>;
  if (isTexts(argv)) return cut(argv.join(' '));
  if (tool.startsWith('git.')) {
    return cut(['git', tool.slice('git.'.length).replaceAll('_', '-'), ...(isTexts(words) ? words : [])].join(' '));
  }
  if (isTexts(patterns) && typeof from === 'string') return cut(`${patterns.join(', ')} from ${from} to ${String(to)}`);
  const names = searching.test(tool) ? ['query', 'content', 'name', ...telling] : telling;
  for (const name of names) {
    const value = readText(args, name);
    if (value !== undefined && value !== '') return cut(searching.test(tool) && name !== 'path' ? `“${value}”` : value);
  }
  return '';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= longestObject ? line : `${line.slice(0, longestObject - 1)}…`;
}

/** Summaries say again what the verb has said. */
function detailOf(summary: string, outcome: Outcome): string {
  if (outcome !== 'ok') return outcome === 'waiting' ? '' : summary;
  const [, read, all] = /^(\d+) of (\d+) bytes read$/.exec(summary) ?? [];
  if (read !== undefined) return read === all ? bytes(read) : `${bytes(read)} of ${bytes(all ?? '')}`;
  const [, written, isNew] = /^(\d+) bytes? written( to a new file)?$/.exec(summary) ?? [];
  if (written !== undefined) return `${bytes(written)}${isNew === undefined ? '' : ', a new file'}`;
  return summary
    .replace(/, 0 (?:files )?omitted$/, '')
    .replace(/^edited (?=at line)/, '')
    .replace(/^(\d+ entr(?:y|ies)) listed/, '$1')
    .replace(/^exit code 0, (\d+) characters? of output.*$/, 'succeeded');
}

function bytes(count: string): string {
  return `${Number(count).toLocaleString('en')} ${count === '1' ? 'byte' : 'bytes'}`;
}

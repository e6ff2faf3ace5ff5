import { InvalidArgumentError } from 'commander';
import {
  choice,
  command,
  count,
  file,
  flag,
  list,
  optionalWord,
  parsed,
  text,
  withDefault,
  word,
  words,
} from '../../command-table.ts';
import { erasureCommands } from './audit-erasure.ts';

const searchHelp = `A filter joins fields and words:
  agent:scout status:denied,error path:src since:2h secret*
Fields: about, agent, call, code, door, event, host, kind, path, rule, session,
  status, task, tool, trace, since, until.
A minus in front excludes (-tool:git.*). Put a filter that begins with a minus
behind --. kind:housekeeping shows what is hidden otherwise.`;

/** A place in the log. */
function parseIndex(given: string): number {
  if (!/^\d{1,15}$/.test(given)) throw new InvalidArgumentError('It must be the index of a record.');
  return Number(given);
}

export const auditCommands = [
  command('tail', {
    help: 'show the last records',
    options: {
      lines: withDefault(count('how many', 'n'), 20),
      follow: flag('keep showing new records', { short: 'f' }),
    },
    run: async (given, context) => (await import('./audit-tail.ts')).tailAudit(given, context),
  }),
  command('search', {
    help: 'find calls and events, newest first',
    arguments: { filter: words('filter') },
    options: {
      lines: count('how many (default: 50, and all of them with --as)', 'n'),
      before: parsed('record', 'only those before this record, for the next page', parseIndex),
      follow: flag('keep showing new ones, oldest first', { short: 'f' }),
      as: choice('format', ['jsonl', 'csv'], 'write all of them as JSON lines or as CSV'),
    },
    more: searchHelp,
    run: async (given, context) => (await import('./audit-search.ts')).searchAudit(given, context),
  }),
  command('show', {
    help: 'show everything that is recorded about one call, or one record by its index',
    arguments: { which: word('call-or-record') },
    run: async ({ which }, context) => (await import('./audit-show.ts')).showAudit(which, context),
  }),
  command('receipt', {
    help: 'write a file that proves one call to somebody who has nothing else of the gate',
    arguments: { which: word('call-or-record'), file: optionalWord('file', { completes: 'files' }) },
    run: async (given, context) => (await import('./audit-receipt.ts')).writeReceiptFile(given, context),
  }),
  command('export', {
    help: 'write the log into a file that can be verified without the gate',
    arguments: { file: word('file', { completes: 'files' }) },
    run: async (given, context) => (await import('./audit-export.ts')).exportAudit(given.file, context),
  }),
  command('consistency', {
    help: 'write a proof that the log continues a checkpoint kept elsewhere',
    arguments: { checkpoint: word('checkpoint', { completes: 'files' }), file: word('file', { completes: 'files' }) },
    run: async (given, context) => (await import('./audit-consistency.ts')).proveAuditConsistency(given, context),
  }),
  command('publish', {
    help: 'copy the newest checkpoint to another place, so that a rewritten log can be detected',
    options: {
      witness: list('key@url', 'ask this witness to cosign'),
      file: file('file', 'write it into a file, such as one on another disk'),
      git: file('folder', 'commit it in this git repository, and push when it has a remote'),
      webhook: text('url', 'post it there'),
      every: count('keep running, and look for a new one at this interval, in seconds'),
    },
    run: async (given, context) => (await import('./audit-publish.ts')).publishAudit(given, context),
  }),
  command('verify', {
    help: 'check that nothing in the log was changed, removed or added',
    options: {
      checkpoint: file('file', 'also compare with a checkpoint kept elsewhere'),
      key: file('verifier', 'the public key of the log, or a file that holds it'),
    },
    run: async (given, context) => (await import('./audit-verify.ts')).verifyAudit(given, context),
  }),
  ...erasureCommands,
];

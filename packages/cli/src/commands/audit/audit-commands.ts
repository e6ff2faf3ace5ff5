import { command, count, file, flag, optionalWord, withDefault, word } from '../../command-table.ts';

export const auditCommands = [
  command('tail', {
    help: 'show the last records',
    options: {
      lines: withDefault(count('how many', 'n'), 20),
      follow: flag('keep showing new records', { short: 'f' }),
    },
    run: async (given, context) => (await import('./audit-tail.ts')).tailAudit(given, context),
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
  command('verify', {
    help: 'check that nothing in the log was changed, removed or added',
    options: {
      checkpoint: file('file', 'also compare with a checkpoint kept elsewhere'),
      key: file('verifier', 'the public key of the log, or a file that holds it'),
    },
    run: async (given, context) => (await import('./audit-verify.ts')).verifyAudit(given, context),
  }),
];

import { InvalidArgumentError } from 'commander';
import { dropUndefined, spellCount } from '@sallyport/contract';
import type { ArchivedPayloads, Erasure, ErasurePreview, Erasures, InJson, RetentionReport } from '@sallyport/contract';
import { agree, operatorCommand } from '../../client/run-tool.ts';
import { count, flag, parsed, required, text, withDefault, word } from '../../command-table.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printFields, printTable, renderWrappedTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

/** A day, or a moment, in the time of this machine unless it says another. */
function parseMoment(given: string): number {
  const timeMs = Date.parse(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00` : given);
  if (Number.isNaN(timeMs) || timeMs <= 0) throw new InvalidArgumentError('It must be a date, such as 2026-03-01.');
  return timeMs;
}

const describeSubject = ({ subject }: Pick<InJson<Erasure>, 'subject'>): string => makeVisibleLine(subject);

/** Forgetting for good, and moving what is old out of the database. */
export const erasureCommands = [
  operatorCommand('erase', {
    help: 'erase the content of calls after 24 hours; the log still verifies',
    options: {
      agent: text('name', 'the calls of this agent'),
      person: text('name', 'the calls that this person made'),
      session: text('id', 'the calls of this session'),
      call: text('id', 'this call, with its steps'),
      before: parsed('date', 'all calls that ended before this', parseMoment),
      reason: text('text', 'why; it stays in the log'),
      dryRun: flag('only show how much would be erased'),
      ...agree,
    },
    more: `Name one of --agent, --person, --session, --call and --before. Only a director can do this, and until the time has
come \`audit cancel-erasure\` takes it back. Records of the administration are never erased.`,
    tool: ({ dryRun }) => (dryRun === true ? 'audit.preview_erasure' : 'audit.erase'),
    input: ({ agent, person, session, call, before, reason, dryRun }) => ({
      ...dropUndefined({ agent, person, session_id: session, call_id: call, before_ms: before }),
      ...(dryRun === true ? {} : { reason: reason ?? 'not given' }),
    }),
    print: (output: InJson<Erasure> | InJson<ErasurePreview>, { terminal, commandName }) => {
      if ('erasureId' in output) {
        const due = formatTime(Number(output.dueAtMs));
        terminal.print(
          `${capitalise(describeSubject(output))}: the arguments and results of the calls will be erased at ${due}.`,
          `Until then: ${commandName} audit cancel-erasure ${makeVisibleLine(output.erasureId)}`,
        );
        return;
      }
      printFields(terminal, [
        ['subject', describeSubject(output)],
        ['calls', output.calls],
        ['records', output.records],
        ['in the trash', output.trashEntries],
        ['content', output.contents],
        ['missing', output.missingArchives.join(', ')],
      ]);
      terminal.print('Nothing was erased.');
    },
  }),
  operatorCommand('erasures', {
    help: 'list erasures: what waits, what was done, what was cancelled',
    options: { lines: withDefault(count('how many', 'n'), 20) },
    tool: 'audit.erasures',
    input: ({ lines }) => ({ limit: lines }),
    print: ({ erasures }: InJson<Erasures>, { terminal }) => {
      if (erasures.length === 0) return terminal.print('Nothing was ever erased.');
      const rows = erasures.map((each) => [
        each.erasureId,
        describeSubject(each),
        describeStatus(each),
        each.erasedRecords,
        each.requestedBy === '' ? 'the rules' : each.requestedBy,
        each.reason,
      ]);
      printTable(terminal, ['ERASURE', 'SUBJECT', 'STATUS', 'RECORDS', 'BY', 'WHY'], rows, renderWrappedTable);
    },
  }),
  operatorCommand('cancel-erasure', {
    help: 'cancel an erasure that has not begun',
    arguments: { erasureId: word('erasure') },
    options: agree,
    tool: 'audit.cancel_erasure',
    print: (erasure: InJson<Erasure>, { terminal }) =>
      terminal.print(`Cancelled: nothing of ${describeSubject(erasure)} is erased.`),
  }),
  operatorCommand('retention', {
    help: 'show how long payloads are kept',
    tool: 'audit.retention',
    print: ({ keepPayloadDays, effectiveAtMs, lastErasure }: InJson<RetentionReport>, { terminal }) => {
      if (keepPayloadDays === undefined) {
        terminal.print('Payloads are kept for ever. `keep_payload_days` in limits.yaml sets a limit.');
        return;
      }
      printFields(terminal, [
        ['kept', spellCount(keepPayloadDays, 'day')],
        [
          'in effect',
          effectiveAtMs === undefined ? 'a day after the daemon has seen it' : formatTime(Number(effectiveAtMs)),
        ],
        ['last', lastErasure === undefined ? 'nothing was erased by age yet' : describeStatus(lastErasure)],
        ['records', lastErasure?.erasedRecords ?? ''],
      ]);
    },
  }),
  operatorCommand('archive', {
    help: 'move the payloads of old records into files that can still be verified and searched',
    options: { before: required(parsed('date', 'records from before this date', parseMoment)), ...agree },
    tool: 'audit.archive',
    input: ({ before }) => ({ before_ms: before }),
    print: ({ records, files, folder, compacted }: InJson<ArchivedPayloads>, { terminal }) => {
      if (records === '0') return terminal.print('There is nothing to archive from before.');
      terminal.print(
        `${spellCount(Number(records), 'payload')} moved into ${spellCount(files.length, 'file')} in ${makeVisibleLine(folder)}.`,
        ...(compacted ? [] : ['The database becomes smaller when the daemon stops.']),
      );
    },
  }),
];

function describeStatus({ status, dueAtMs, endedAtMs, cancelledBy }: InJson<Erasure>): string {
  if (status === 'waiting') return `waits until ${formatTime(Number(dueAtMs))}`;
  const when = endedAtMs === undefined ? '' : ` ${formatTime(Number(endedAtMs))}`;
  return `${status}${when}${cancelledBy === '' ? '' : ` by ${makeVisibleLine(cancelledBy)}`}`;
}

function capitalise(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

import { hash } from 'node:crypto';
import { CallService, isJsonObject, textOf } from '@sallyport/contract';
import type { FileWriter, InJson, Json, WrittenLines } from '@sallyport/contract';
import { hasCode } from '@sallyport/sandbox';
import { ToolFailure } from '../../../call/tool.ts';
import type { ToolContext } from '../../../call/tool.ts';
import { readBytes } from '../../../catalogue/files/file-bytes.ts';
import { openFile } from '../../../paths/open-path.ts';
import { parsePath } from '../../../paths/parse-path.ts';
import { defineOperatorTool } from '../../../registry/define-operator-tool.ts';
import type { JournalEntry, JournalRepository, RecordRepository } from '../../../storage/stores.ts';
import { attributeLines, reasons } from './attribute-lines.ts';
import type { Origin } from './attribute-lines.ts';
import { asText, readImages, shaOf, shaOfPresent } from './read-images.ts';
import type { Present } from './read-images.ts';
import * as schema from '../../../registry/schemas/schema.ts';

export interface WhyParts {
  readonly journal: Pick<JournalRepository, 'readJournal'>;
  readonly records: Pick<RecordRepository, 'readRecordsOfCall'>;
}

const mostEntries = 1000;
const mostWriters = 20;
const mostBytes = 64 * 1024 * 1024;

/**
 * Who wrote a file: from the journal, by the hashes of what calls left, and line by line where earlier bytes are kept.
 */
export function whyTool({ journal, records }: WhyParts) {
  return defineOperatorTool({
    name: 'calls.why',
    description: 'Says which calls wrote a file, or one line of it: tool, agent, session, and who approved it.',
    mutates: false,
    properties: {
      path: schema.string('Absolute.', { minLength: 1, maxLength: 4096 }),
      line: schema.integer('Counted from 1; 0 is the whole file.', { minimum: 0, default: 0 }),
    },
    required: ['path'],
    answers: CallService.method.explainFile,
    run: async ({ path: given, line }, context) => {
      const { path } = parsePath(given, '/');
      const entries = (await journal.readJournal({ path }, mostEntries)).filter(
        ({ before }) => before.kind !== 'repository',
      );
      const last = entries.at(-1);
      if (last === undefined) return untracked(path);
      const now = await readPresent(path, context);
      const isKnown = shaOf(last.after) === shaOfPresent(now);
      const origins = attributeLines(readImages(entries, now, context.trashFolder));
      const asked = line === 0 ? undefined : originOf(line, origins, now);
      const { by, reason } = asked ?? wholeOrigin(last, isKnown);
      const writers = await Promise.all(
        entries
          .toReversed()
          .slice(0, mostWriters)
          .map((each) => describe(each, records)),
      );
      return {
        path,
        state:
          now.kind === 'absent' && !isKnown
            ? 'changed'
            : isKnown
              ? now.kind === 'absent'
                ? 'absent'
                : 'known'
              : 'changed',
        ...(by && { writer: await describe(by, records) }),
        reason: reason ?? '',
        writers,
        lines: joinLines(origins),
      };
    },
    summarize: (_args, { writers }) => `${writers.length} calls wrote it`,
  });
}

function untracked(path: string) {
  const reason = 'No call that is still in the journal changed this file.';
  return { path, state: 'untracked', reason, writers: [], lines: [] };
}

function wholeOrigin(last: JournalEntry, isKnown: boolean): { by?: JournalEntry; reason?: string } {
  if (isKnown) return { by: last };
  const isOpen = last.after.kind === 'unknown';
  return {
    reason: isOpen
      ? `The journal does not say how call ${last.callId} left the file.`
      : `Something other than a call has changed the file since call ${last.callId}.`,
  };
}

function originOf(line: number, origins: readonly Origin[], now: Present): { by?: JournalEntry; reason?: string } {
  const origin = origins[line - 1];
  if (origin !== undefined) return 'by' in origin ? { by: origin.by } : { reason: reasons[origin.reason] };
  if (origins.length > 0) throw new ToolFailure('NOT_FOUND', `The file has ${origins.length} lines.`);
  return {
    reason:
      now.kind === 'absent' ? 'There is no such file.' : 'It is not text, or too large to be compared line by line.',
  };
}

/** No rule is asked, because the journal names the file and none of its content leaves the gate. */
async function readPresent(path: string, { signal }: ToolContext): Promise<Present> {
  try {
    using file = openFile({ given: path, path }, { paths: { judge: () => undefined }, workingDirectory: '/' });
    if (file.stats.size > mostBytes) throw new ToolFailure('TOO_LARGE', 'The file is too large to be read.');
    const bytes = await readBytes(file.fd, 0, file.stats.size, signal);
    const text = asText(bytes);
    return { kind: 'file', sha256: hash('sha256', bytes), ...(text === undefined ? {} : { text }) };
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { kind: 'absent' };
    throw error;
  }
}

async function describe(entry: JournalEntry, records: WhyParts['records']): Promise<InJson<FileWriter>> {
  const { callId, tool, agent, sessionId, traceId, atMs } = entry;
  const consent = await readConsent(callId, records);
  return {
    ...{ callId, tool, agent, sessionId, traceId, atMs: String(atMs) },
    what: nameChange(entry),
    approvedBy: textOf(consent?.['by']),
    approvedHow: textOf(consent?.['how']),
    approvedAtMs: String(Number(consent?.['at_ms'] ?? 0)),
  };
}

function nameChange({ before, after }: JournalEntry): string {
  if (after.kind === 'unknown') return 'unknown';
  if (after.kind === 'absent') return 'removed';
  return before.kind === 'absent' ? 'created' : 'changed';
}

async function readConsent(callId: string, { readRecordsOfCall }: WhyParts['records']) {
  for (const { payload } of await readRecordsOfCall(callId)) {
    const told = payload === undefined ? undefined : (JSON.parse(payload) as Json);
    const consent = isJsonObject(told) ? told['consent'] : undefined;
    if (isJsonObject(consent)) return consent;
  }
  return undefined;
}

function joinLines(origins: readonly Origin[]): InJson<WrittenLines>[] {
  const ranges: InJson<WrittenLines>[] = [];
  for (const [at, origin] of origins.entries()) {
    const callId = 'by' in origin ? origin.by.callId : '';
    const reason = 'by' in origin ? '' : reasons[origin.reason];
    const last = ranges.at(-1);
    if (last !== undefined && last.callId === callId && last.reason === reason)
      ranges[ranges.length - 1] = { ...last, last: at + 1 };
    else ranges.push({ first: at + 1, last: at + 1, callId, reason });
  }
  return ranges;
}

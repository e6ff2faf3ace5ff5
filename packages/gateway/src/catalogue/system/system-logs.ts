import { dropUndefined, spellCount } from '@sallyport/contract';
import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { entrySchema, fitsFilter, presentEntry, priorities } from './log-entry.ts';
import { findLogs, logSources, usualPlaces } from './log-source.ts';
import type { LogPlaces } from './log-source.ts';
import { missing, readLog } from './read-log.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** `places` is for tests. */
export function systemLogs(places: LogPlaces = usualPlaces): AnyTool {
  return defineTool({
    name: 'system.logs',
    aliases: ['read_system_logs'],
    description:
      'Read recent messages of the system log: the systemd journal, a syslog file, or the log of macOS. Secrets are removed. Narrow it with program, priority or contains.',
    tags: ['system', 'logs'],
    risk: 'medium',
    scopes: ['paths'],
    timeoutMs: 30_000,
    inputSchema: schema.object(
      {
        source: schema.choice(
          'Which log to read. auto: the first of these that this machine has.',
          ['auto', ...logSources],
          { default: 'auto' },
        ),
        since_minutes: schema.integer('How far back to look.', { minimum: 1, maximum: 10_080, default: 60 }),
        program: schema.string('Only messages of this program or systemd unit.', {
          pattern: '^[A-Za-z0-9][A-Za-z0-9_.@:-]{0,127}$',
          examples: ['sshd'],
        }),
        priority: schema.choice(
          'Only messages that are this urgent or more. Syslog files do not record it.',
          priorities,
        ),
        contains: schema.string('Only messages with this text, in upper or lower case.', {
          minLength: 1,
          maxLength: 200,
        }),
        max_entries: schema.integer('The most messages, newest first.', { minimum: 1, maximum: 1000, default: 100 }),
      },
      { optional: ['program', 'priority', 'contains'] },
    ),
    outputSchema: schema.object({
      source: schema.choice('The log that was read.', logSources),
      entries: schema.array('The messages found, oldest first.', entrySchema),
      truncated: schema.boolean('Whether there are, or may be, more that fit.'),
    }),
    claim: (args) => {
      const { source, paths } = findLogs(args.source, places);
      if (source === 'syslog' && args.priority !== undefined) {
        throw new ToolRefused(
          refuse('INVALID_ARGUMENTS', 'arguments', 'Syslog files do not record priorities.', {
            remedy: 'Leave priority out, or search with contains.',
          }),
        );
      }
      return { paths: paths.map((path) => ({ path, access: 'read' })) };
    },
    preview: (args) => {
      const logs = findLogs(args.source, places);
      // Nobody is asked about a log that is not there.
      if ('lookedAt' in logs) throw missing(logs);
      const { source, paths } = logs;
      const about = [args.program, args.priority, args.contains].filter((part) => part !== undefined).join(', ');
      const summary = `Read the ${source} log of the last ${spellCount(args.since_minutes, 'minute')}`;
      return { ...looksAt(about === '' ? summary : `${summary}: ${about}`), detail: `${paths.join('\n')}\n` };
    },
    run: async (args, context) => {
      const logs = findLogs(args.source, places);
      const sinceMs = Date.now() - args.since_minutes * 60_000;
      const { program, priority, contains } = args;
      const question = {
        sinceMs,
        ...dropUndefined({ program, priority, contains }),
      };
      const { entries, isCut } = await readLog(logs, question, context);
      const found = entries
        .map((entry) => ({ entry, shown: presentEntry(entry, context.redact) }))
        // As it is shown: a search must not tell what the caller may not see.
        .filter(({ entry, shown }) => fitsFilter({ ...entry, message: shown.message }, question));
      const reachesBack = (entries[0]?.timeMs ?? Infinity) < sinceMs;
      return {
        source: logs.source,
        entries: found.slice(-args.max_entries).map(({ shown }) => shown),
        truncated: (isCut && !reachesBack) || found.length > args.max_entries,
      };
    },
    summarize: (_, { entries, source }) => `${spellCount(entries.length, 'entry', 'entries')} of ${source}`,
  });
}

import type { AuditEntry, InJson } from '@sallyport/contract';
import { readPayload } from './read-payload.ts';
import type { RecordPayload } from './read-payload.ts';

const columns = [
  ...['index', 'time', 'kind', 'result', 'agent', 'tool', 'rule', 'code', 'summary', 'duration_ms', 'event'],
  ...['call', 'session', 'trace', 'arguments'],
] as const;

export const csvHeading = columns.join(',');

interface Payload extends RecordPayload {
  readonly decision?: { readonly rule_id?: string };
  readonly trace_id?: string;
  readonly arguments?: unknown;
}

/** One line, for a table of calculation: what would be taken for a formula there is marked as text. */
export function renderCsv({ kind, records }: InJson<AuditEntry>): string {
  const last = records.at(-1);
  const payload = Object.assign({}, ...records.map(readPayload)) as Payload;
  const { refusal, error, decision } = payload;
  const values: Record<string, unknown> = {
    ...{ index: last?.index, kind, result: last?.result, call: last?.callId, session: last?.sessionId },
    time: new Date(Number(last?.timeMs ?? 0)).toISOString(),
    ...{ agent: payload.agent, tool: payload.tool, event: payload.event, trace: payload.trace_id },
    rule: refusal?.rule_id ?? decision?.rule_id,
    code: refusal?.code ?? error?.code,
    summary: payload.summary ?? refusal?.message ?? error?.message,
    duration_ms: payload.duration_ms,
    arguments: payload.arguments === undefined ? undefined : JSON.stringify(payload.arguments),
  };
  return columns.map((name) => quote(values[name])).join(',');
}

function quote(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const line = text.replace(/[\u0000-\u001f\u007f]/g, ' ');
  const safe = /^[=+\-@]/.test(line) && typeof value === 'string' ? `'${line}` : line;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

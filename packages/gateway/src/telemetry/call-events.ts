import type { Writable } from 'node:stream';
import { wholeText } from '@sallyport/contract';
import type { CallFacts } from '../call/call.ts';
import { cutText } from '../call/redacted.ts';
import type { Redacted, RedactText } from '../call/redacted.ts';
import type { Gathered, CallEnding } from '../call/stage.ts';
import { RotatingFile } from './rotating-file.ts';
import { spanIdOf } from './trace-context.ts';
import type { Code } from '@sallyport/contract';
import { Fault } from '../call/fault.ts';

const flushMs = 100;
const roomBytes = 256 * 1024;
/** Names are cut at 256 characters, of up to six bytes when they are escaped. */
const longestLine = 8 * 1024;
/** What the disk has not taken yet. Beyond it events are dropped: memory is for calls. */
const mostWaitingBytes = 8 * 1024 * 1024;
const longestName = 256;
/** Callers choose the names of tools that do not exist. */
const mostQuoted = 1000;

const names = {
  ok: 'tool_call_completed',
  error: 'tool_call_failed',
  fault: 'tool_call_failed',
  denied: 'tool_call_blocked',
  pending: 'tool_call_blocked',
} as const;

/**
 * The structured events of calls, one JSON object a line, for people and programs that watch the gate. Not evidence;
 * that is the audit log. Every call pays for them, so lines are put together by hand and written many at a time.
 */
export class CallEvents {
  readonly #sink: Writable;
  readonly #redact: RedactText;
  /** Lines on their way to the file. As text they would be many small objects that live for a tenth of a second. */
  readonly #room = Buffer.allocUnsafeSlow(roomBytes);
  #used = 0;
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;
  readonly #quoted = new Map<Redacted, string>();
  #time = '';
  #timeMs = 0;

  constructor(sink: Writable, redact: RedactText) {
    this.#sink = sink;
    this.#redact = redact;
  }

  static toFile(path: string, redact: RedactText): CallEvents {
    const sink = new RotatingFile(path);
    // As for the event log: what cannot be written must not end the daemon.
    sink.on('error', () => undefined);
    return new CallEvents(sink, redact);
  }

  /** Events that were lost because the disk did not keep up. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The effect of a call is about to begin. */
  started(call: Gathered<CallFacts>): void {
    this.#add(`${this.#begin('info', 'tool_call_started', call)}}\n`);
  }

  ended(call: Gathered<CallFacts>, { outcome, code, rule }: CallEnd, latencyMs: number): void {
    const line = `${this.#begin(outcome === 'fault' ? 'error' : 'info', names[outcome], call)},"latency_ms":${latencyMs}`;
    if (code === undefined) this.#add(`${line}}\n`);
    else if (rule === undefined) this.#add(`${line},"error":"${code}"}\n`);
    else this.#add(`${line},"error":"${code}","rule":${this.#quote(rule)}}\n`);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used > 0) this.#sink.write(Buffer.from(this.#room.subarray(0, this.#used)));
    this.#used = 0;
  }

  /** Takes lines out of the files. */
  async dropLines(isDropped: (line: string) => boolean): Promise<void> {
    this.flush();
    if (this.#sink instanceof RotatingFile) await this.#sink.dropLines(isDropped);
  }

  close(): Promise<void> {
    this.flush();
    return new Promise((resolve) => this.#sink.end(() => resolve()));
  }

  #begin(level: string, event: string, call: Gathered<CallFacts>): string {
    const { callId = '', traceId, callerSpan, tool, session, step } = call;
    const trace = traceId === undefined ? '' : `,"trace_id":"${traceId}","span_id":"${spanIdOf(callId)}"`;
    const parent = callerSpan === undefined ? '' : `,"parent_span_id":"${callerSpan.spanId}"`;
    const above = step === undefined ? '' : `,"parent_call_id":"${step.parent.callId}"`;
    const name = tool?.definition.name ?? wholeText(call.toolName ?? '', longestName);
    const agent = session === undefined ? '' : `,"agent":${this.#quote(session.agent)},"session_id":"${session.id}"`;
    return `{"time":"${this.#now()}","level":"${level}","event":"${event}","call_id":"${callId}"${trace}${parent}${above},"tool":${this.#quote(name)}${agent}`;
  }

  /** The same few names come with every call. What is kept is what the redactor lets pass at the moment. */
  #quote(text: string): string {
    const shown = this.#redact(text);
    const known = this.#quoted.get(shown);
    if (known !== undefined) return known;
    const quoted = JSON.stringify(cutText(shown, longestName));
    if (this.#quoted.size >= mostQuoted) this.#quoted.clear();
    if (shown.length <= longestName) this.#quoted.set(shown, quoted);
    return quoted;
  }

  /** Many events fall into one millisecond. */
  #now(): string {
    const nowMs = Date.now();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#time = new Date(nowMs).toISOString();
    }
    return this.#time;
  }

  #add(line: string): void {
    if (this.#sink.destroyed || this.#sink.writableLength > mostWaitingBytes) {
      this.#dropped++;
      return;
    }
    this.#used += this.#room.write(line, this.#used);
    if (this.#used > roomBytes - longestLine) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), flushMs).unref();
  }
}

/** `pending`: nobody has said no; a person is asked, or the operator who called is. */
export const outcomes = ['ok', 'error', 'denied', 'pending', 'fault'] as const;
export type Outcome = (typeof outcomes)[number];

/** How a call ended, as all telemetry tells it. */
export interface CallEnd {
  readonly outcome: Outcome;
  /** Absent: it succeeded. */
  readonly code?: Code | undefined;
  /** Of the rule that refused it. Absent: none did. */
  readonly rule?: string | undefined;
}

const succeeded: CallEnd = { outcome: 'ok' };

export function readEnd(ending: CallEnding): CallEnd {
  switch (ending.kind) {
    case 'refused': {
      const { code, rule, approval } = ending.refusal;
      const isPending = code === 'APPROVAL_REQUIRED' && approval !== undefined;
      return { outcome: isPending ? 'pending' : 'denied', code, rule: rule.id };
    }
    case 'faulted':
      return { outcome: 'fault', code: ending.fault instanceof Fault ? ending.fault.code : 'INTERNAL' };
    case 'completed': {
      const { outcome } = ending.call;
      return outcome.ok ? succeeded : { outcome: 'error', code: outcome.failure.code };
    }
  }
}

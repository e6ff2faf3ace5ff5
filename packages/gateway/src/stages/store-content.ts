import { spellBytes } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type * as facts from '../call/call.ts';
import type { Delivered, Draft, KeptResult, Outcome } from '../call/call.ts';
import { ToolFailure } from '../call/tool.ts';
import type { AnyTool } from '../call/tool.ts';
import type { Stage } from '../call/stage.ts';
import { failBegun } from './explain-begun.ts';

/** Where outputs go that are too large for an answer. */
export interface ResultStore {
  /** Keeps the bytes where the session can fetch them; durable when it resolves. Throws ToolFailure when it cannot. */
  readonly keep: (sessionId: string, bytes: Uint8Array) => Promise<KeptResult>;
}

type Needs = facts.Begun & facts.Opened & facts.Resolved & facts.ArgumentsChecked & facts.ReuseChecked & facts.Executed;

/** The largest result in an answer, at every door. */
export const largestInlineBytes = 1024 * 1024;

/** Turns the result into the bytes to deliver: in the answer, or in the content store if they are too many. */
export function storeContent(results: ResultStore): Stage<Needs, Delivered> {
  return {
    name: 'store-content',
    run: (call) => {
      const { tool, reused } = call;
      const { result, hasBegun } = call.execution;
      if (!result.ok) return deliver(call, hasBegun ? { ok: false, failure: failBegun(result.failure, call) } : result);
      if (reused?.kept !== undefined) {
        return deliver(call, { ok: true, outputJson: '', kept: reused.kept, summary: describeKept(reused.kept) });
      }
      const outputJson = JSON.stringify(result.output);
      const summary = tool.summarize(call.arguments.value, result.output);
      if (sizeOf(tool, result.output, outputJson) > largestInlineBytes) return keep(results, call, outputJson, summary);
      return deliver(call, { ok: true, outputJson, kept: undefined, summary });
    },
  };
}

function deliver(call: Draft<Delivered>, outcome: Outcome): undefined {
  call.outcome = outcome;
}

function sizeOf(tool: AnyTool, output: Json, outputJson: string): number {
  // A character takes three bytes at most, so that short texts need not be counted.
  if (outputJson.length * 3 <= largestInlineBytes) return outputJson.length;
  return tool.measureResult?.(output) ?? Buffer.byteLength(outputJson);
}

async function keep(
  results: ResultStore,
  call: Needs & Draft<Delivered>,
  outputJson: string,
  summary: string,
): Promise<undefined> {
  try {
    const kept = await results.keep(call.session.id, Buffer.from(outputJson));
    deliver(call, { ok: true, outputJson: '', kept, summary: `${summary}; ${describeKept(kept)}` });
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const message = `The tool has run, but its result is too large for an answer and could not be kept: ${error.message}`;
    const failure = new ToolFailure(error.code, message, { cause: error });
    deliver(call, { ok: false, failure: call.execution.hasBegun ? failBegun(failure, call) : failure });
  }
}

function describeKept({ hash, sizeBytes }: KeptResult): string {
  return `${spellBytes(sizeBytes)} kept as ${hash}`;
}

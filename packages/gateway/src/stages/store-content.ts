import type { ArgumentsChecked, Delivered, Executed, Resolved } from '../model/call.ts';
import { ToolFailure } from '../model/tool.ts';
import type { Stage } from '../pipeline/stage.ts';

const largestInlineBytes = 32 * 1024 * 1024;

/** Fixes the result as the bytes that are delivered. What is too large to hand over inline is a failure that says so. */
export const storeContent: Stage<Resolved & ArgumentsChecked & Executed, Delivered> = {
  name: 'store-content',
  run: ({ tool, arguments: { value }, execution: { result } }) => {
    if (!result.ok) return { outcome: result };
    const outputJson = JSON.stringify(result.output);
    const bytes = Buffer.byteLength(outputJson);
    if (bytes <= largestInlineBytes) {
      return { outcome: { ok: true, outputJson, summary: tool.summarize(value, result.output) } };
    }
    const message = `The result has ${bytes} bytes, more than the ${largestInlineBytes} that fit into an answer. Ask for less, for example with offset and limit.`;
    return { outcome: { ok: false, failure: new ToolFailure('TOO_LARGE', message) } };
  },
};

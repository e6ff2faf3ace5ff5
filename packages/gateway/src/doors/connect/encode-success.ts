import { durationOf, toolNameOf } from '../../call/answer.ts';
import type { Answer } from '../../call/answer.ts';
import type { ToolUsage } from '../../call/tool.ts';
import { MessageWriter, mostBytesOf, mostBytesOfField } from '../transport/wire/message-writer.ts';

/** Those of ExecuteToolResponse and of its messages. */
const mostFields = 32;

/**
 * A success as protobuf has it, without a message in between: to make one and to encode it takes as long as several
 * gates. It says what `presentAnswer` says. Undefined: it is another answer, or a large one that is kept elsewhere.
 */
export function encodeSuccess(answer: Answer): Buffer | undefined {
  const { output, problem, usage, requestId, callId, traceId, taskId, correlationId, warnings } = answer;
  if (output === undefined || problem !== undefined || output.kept !== undefined) return undefined;
  const { outputJson } = output;
  const tool = toolNameOf(answer);
  let mostBytes = mostFields * mostBytesOfField + Buffer.byteLength(outputJson);
  for (const text of [requestId, callId, traceId, tool, taskId, correlationId, usage?.measuredBy ?? '', ...warnings]) {
    mostBytes += mostBytesOf(text);
  }
  const writer = new MessageWriter(mostBytes);
  writer.text(1, requestId);
  writer.text(2, callId);
  writer.text(3, traceId);
  writer.text(4, tool);
  writer.count(5, durationOf(answer));
  if (usage !== undefined) encodeUsage(writer, usage);
  if (taskId || correlationId) {
    const context = writer.begin(7);
    writer.text(1, taskId);
    writer.text(2, correlationId);
    writer.end(context);
  }
  for (const warning of warnings) writer.element(8, warning);
  if (answer.ended === 'completed' && !answer.isReused) encodeCharge(writer, answer);
  const success = writer.begin(10);
  writer.text(1, outputJson);
  writer.end(success);
  return writer.finish();
}

/** The same as an answer of a stream, which has a number. */
export function numberSuccess(number: number, success: Uint8Array): Buffer {
  const writer = new MessageWriter(2 * mostBytesOfField + success.length);
  writer.count(1, number);
  writer.bytes(2, success);
  return writer.finish();
}

function encodeUsage(writer: MessageWriter, usage: ToolUsage): void {
  const { measuredBy, cpuMs, peakMemoryBytes, networkConnections, bytesRead, bytesWritten } = usage;
  const from = writer.begin(6);
  if (cpuMs !== undefined) writer.presentDouble(1, cpuMs);
  if (peakMemoryBytes !== undefined) writer.presentCount(2, peakMemoryBytes);
  if (networkConnections !== undefined) writer.presentCount(3, networkConnections);
  if (bytesRead !== undefined) writer.presentCount(4, bytesRead);
  if (bytesWritten !== undefined) writer.presentCount(5, bytesWritten);
  writer.text(6, measuredBy ?? '');
  writer.end(from);
}

function encodeCharge(writer: MessageWriter, { activeMs, usage }: Answer): void {
  const { tokens = 0, costMicros = 0 } = usage ?? {};
  const from = writer.begin(9);
  writer.count(1, 1);
  writer.count(2, activeMs);
  writer.count(3, tokens);
  writer.count(4, costMicros);
  writer.end(from);
}

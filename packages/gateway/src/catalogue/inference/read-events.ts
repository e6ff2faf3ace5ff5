import { ToolFailure } from '../../call/tool.ts';

const longestEvent = 4 * 1024 * 1024;

/** The data of each server-sent event, in the order of the stream. */
export async function* readEvents(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending: string[] = [];
  let pendingLength = 0;
  let data: string[] = [];
  let dataLength = 0;
  for await (const chunk of stream) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    for (const [at, part] of lines.entries()) {
      pending.push(part);
      pendingLength += part.length;
      if (pendingLength + dataLength > longestEvent)
        throw new ToolFailure('TOO_LARGE', 'The provider sent an event without an end.');
      if (at === lines.length - 1) break;
      const line = pending.join('').replace(/\r$/, '');
      pending = [];
      pendingLength = 0;
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
        dataLength = 0;
      } else if (line.startsWith('data:')) {
        data.push(line.slice(5).replace(/^ /, ''));
        dataLength += line.length;
      }
    }
  }
  if (data.length > 0) yield data.join('\n');
}

import { exitCodes } from '@sallyport/contract/codes';
import { CommandFailure } from './failure.ts';
import { openResponse, readChunks, readFailure } from './post-json.ts';
import type { Post } from './post-json.ts';

const prefixBytes = 5;
const endFlag = 0x02;
const mostMessageBytes = 64 * 1024 * 1024;

/** A Connect call with JSON whose answers stream. Rejects with CommandFailure, as the daemon's last frame says. */
export async function* streamJson(post: Post): AsyncGenerator<unknown> {
  const message = Buffer.from(JSON.stringify(post.message));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  const response = await openResponse(post, 'application/connect+json', Buffer.concat([prefix, message]));
  let waiting: Buffer = Buffer.alloc(0);
  for await (const chunk of readChunks(response, post)) {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    while (waiting.length >= prefixBytes) {
      const end = prefixBytes + waiting.readUInt32BE(1);
      if (end > mostMessageBytes) throw unreadable();
      if (waiting.length < end) break;
      const [flag, answer] = [waiting[0], parse(waiting.subarray(prefixBytes, end))];
      waiting = waiting.subarray(end);
      if (flag !== endFlag) {
        yield answer;
        continue;
      }
      const { error } = answer as { readonly error?: unknown };
      if (error !== undefined) throw readFailure(error, 'The daemon gave no reason.');
      return;
    }
  }
  throw unreadable();
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw unreadable();
  }
}

function unreadable(): CommandFailure {
  return new CommandFailure('BAD_ANSWER', exitCodes.toolError, 'The daemon gave no readable answer.');
}

import type { InJson, UpstreamLog } from '@sallyport/contract';
import { exitCodes } from '@sallyport/contract/codes';
import type { CommandContext } from '../../command-context.ts';
import { runSteps } from '../../client/run-steps.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';

export interface LogOptions {
  readonly name: string;
  readonly lines: number;
  readonly follow?: boolean;
}

const waitMs = 20_000;
/** What `--follow` takes at once. */
const mostLines = 1000;

/** With `--follow`, waits at the daemon for new lines and ends when the person ends it. In JSON, then, one object a line. */
export function showLogs({ name, lines, follow = false }: LogOptions, context: CommandContext): Promise<number> {
  const { terminal, json } = context;
  return runSteps(context, async (step) => {
    const read = (input: object) => step<InJson<UpstreamLog>>('upstreams.logs', { name, ...input });
    const print = ({ lines: found }: InJson<UpstreamLog>): void => {
      for (const line of found) {
        // What a server wrote never begins a line of ours.
        terminal.print(json ? visibleJson(line) : `${formatTime(Number(line.atMs))}  ${makeVisibleLine(line.text)}`);
      }
    };
    const first = await read({ lines });
    if (!follow) {
      if (json) terminal.print(visibleJson(first));
      else if (first.lines.length === 0) terminal.print('It has written nothing yet.');
      else print(first);
      return exitCodes.success;
    }
    print(first);
    for (let after = first.lines.at(-1)?.number ?? 0; ;) {
      const next = await read({ lines: mostLines, after, wait_ms: waitMs });
      print(next);
      after = next.lines.at(-1)?.number ?? after;
    }
  });
}

import { isJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type { Answer } from '../../call/answer.ts';
import { doors } from '../../call/call.ts';
import { isRefusal } from '../../call/refusal.ts';
import type { RedactedProgress } from '../../call/tool.ts';
import { unknownTicket } from '../../clients/client-runs.ts';
import type { ClientRuns, OpenRun } from '../../clients/client-runs.ts';
import { findCaller } from '../check-caller.ts';
import { malformed, parseBody, readText } from '../http/json-fields.ts';
import { openReceiver } from '../http/json-requests.ts';
import type { CallRouteParts } from '../http/json-requests.ts';
import type { HttpResponse, HttpRoute } from '../transport/http-route.ts';
import { explainAnswer } from './explain-answer.ts';

/** What `sallyport exec` is told, a line each. */
type ExecNews =
  | { readonly stdout: string }
  | { readonly stderr: string }
  /** The last one. */
  | { readonly exitCode: number; readonly message?: string };

/** As shells say it of a program that cannot be run. */
const cannotRun = 126;

/**
 * Where `sallyport exec` comes for the run of a command that the hook put in the place of a client's own. It brings no
 * command: the gate runs the one that it judged, once, for the session and in the folder that asked.
 */
export function execRoute(
  parts: CallRouteParts & { readonly runs: Pick<ClientRuns, 'findByTicket'> },
  /** How the call of a run ended, once it has. Undefined: by a fault. */
  endingOf: (run: OpenRun) => Promise<Answer | undefined>,
): HttpRoute {
  const receive = openReceiver(parts);
  return {
    method: 'POST',
    path: '/v1/exec',
    doors,
    handle: async (request, response, peer) => {
      const { ticket, cwd } = await receive(request, peer, readRequest);
      const caller = findCaller(parts.store, peer);
      const run = isRefusal(caller) ? undefined : parts.runs.findByTicket(ticket);
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const owner = isRefusal(caller) ? '' : caller.id;
      const onProgress = (progress: RedactedProgress): void => {
        if (progress.kind === 'stdout') send(response, { stdout: progress.text });
        else if (progress.kind === 'stderr') send(response, { stderr: progress.text });
      };
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
      const why = run === undefined ? unknownTicket : run.redeem({ owner, cwd, onProgress, signal: gone.signal });
      if (run === undefined || why !== undefined) {
        response.end(`${JSON.stringify({ exitCode: cannotRun, message: `Sallyport: ${why}` })}\n`);
        return;
      }
      response.end(`${JSON.stringify(describeEnd(await endingOf(run)))}\n`);
    },
  };
}

function readRequest(bytes: Buffer): { readonly ticket: string; readonly cwd: string } {
  const body = parseBody(bytes);
  const [ticket, cwd] = [readText(body, 'ticket'), readText(body, 'cwd')];
  if (ticket === '' || !cwd.startsWith('/')) throw malformed('Name the ticket and an absolute cwd.');
  return { ticket, cwd };
}

function send(response: HttpResponse, news: ExecNews): void {
  if (!response.writableEnded) response.write(`${JSON.stringify(news)}\n`);
}

function describeEnd(answer: Answer | undefined): ExecNews {
  const output = JSON.parse(answer?.output?.outputJson || 'null') as Json;
  const code = isJsonObject(output) ? output['exit_code'] : undefined;
  return typeof code === 'number' ? { exitCode: code } : { exitCode: cannotRun, message: explainAnswer(answer) };
}

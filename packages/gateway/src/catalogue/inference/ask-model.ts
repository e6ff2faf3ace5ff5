import type { IncomingMessage } from 'node:http';
import { cutText } from '../../call/redacted.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { askProvider, unreadable } from '../providers/ask-provider.ts';
import type { ProviderParts } from '../providers/ask-provider.ts';
import type { InferenceProvider } from '../providers/provider-settings.ts';
import { explainFailure } from '../web/reach.ts';
import { unpacked } from '../web/read-body.ts';
import { models } from './inference-kinds.ts';
import type { ModelPrompt } from './inference-kinds.ts';
import { readEvents } from './read-events.ts';
import type { TokenUse } from './model-cost.ts';

export interface ModelAnswer {
  readonly text: string;
  readonly stopReason: string;
}

const mostText = 16 * 1024 * 1024;
const tellEveryMs = 200;

/** Learns what the provider counts, as it counts it, so that a call that breaks off is charged too. */
export interface UseMeter {
  /** The provider works on it, or may do so. */
  readonly begin: () => void;
  readonly count: (use: Partial<TokenUse>) => void;
}

/** Asks a model and reads its answer as it comes. What has come so far is told as progress. */
export async function askModel(
  provider: InferenceProvider,
  prompt: ModelPrompt,
  meter: UseMeter,
  context: ToolContext,
  parts: ProviderParts,
): Promise<ModelAnswer> {
  const { kind, secret, address } = provider;
  const use = { tool: 'inference.call', host: address.host };
  const request = models[kind].request(prompt, secret === undefined ? '' : parts.readKey(secret, use));
  const begin = (): void => {
    meter.begin();
    context.noteEffect();
  };
  let isUnanswered = false;
  const watch = { onConnected: () => void (isUnanswered = true), onAnswered: () => void (isUnanswered = false) };
  const answer = await askProvider(provider, request, context, parts, watch).catch((error: unknown) => {
    // Nobody knows how far the provider has come.
    if (isUnanswered) begin();
    throw error;
  });
  begin();
  try {
    return await readAnswer(provider, answer, meter, context);
  } catch (error) {
    if (error instanceof SyntaxError) throw unreadable(provider);
    throw explainFailure(error, address, context);
  } finally {
    answer.destroy();
  }
}

async function readAnswer(
  provider: InferenceProvider,
  answer: IncomingMessage,
  meter: UseMeter,
  context: ToolContext,
): Promise<ModelAnswer> {
  const pieces: string[] = [];
  let [length, told, toldAtMs] = [0, 0, Date.now()];
  let stopReason = '';
  let isWhole = false;
  for await (const data of readEvents(unpacked(answer) as AsyncIterable<Buffer>)) {
    const news = models[provider.kind].read(data);
    if (news === undefined) continue;
    if (news.error !== undefined) throw brokenOff(provider, news.error, context);
    meter.count(news);
    stopReason = news.stopReason ?? stopReason;
    isWhole ||= news.isEnd === true;
    if (news.text === undefined) continue;
    pieces.push(news.text);
    length += news.text.length;
    if (length > mostText) throw new ToolFailure('TOO_LARGE', `The answer of ${provider.name} has no end.`);
    if (Date.now() - toldAtMs < tellEveryMs) continue;
    context.reportProgress({ kind: 'step', done: length, message: pieces.slice(told).join('') });
    [told, toldAtMs] = [pieces.length, Date.now()];
  }
  if (!isWhole) throw new ToolFailure('UPSTREAM_UNAVAILABLE', `The answer of ${provider.name} broke off.`);
  if (told > 0 && told < pieces.length)
    context.reportProgress({ kind: 'step', done: length, message: pieces.slice(told).join('') });
  return { text: pieces.join('').toWellFormed(), stopReason };
}

function brokenOff({ name }: InferenceProvider, said: string, { redact }: ToolContext): ToolFailure {
  const reason = said === '' ? '' : ` It says: ${JSON.stringify(cutText(redact(said), 300))}.`;
  return new ToolFailure('UPSTREAM_UNAVAILABLE', `The provider ${name} broke off its answer.${reason}`);
}

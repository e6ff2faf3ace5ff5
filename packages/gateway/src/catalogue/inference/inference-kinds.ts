import { isJsonObject, textOf } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { ProviderRequest } from '../providers/ask-provider.ts';
import type { InferenceProvider } from '../providers/provider-settings.ts';

export interface ModelPrompt {
  readonly model: string;
  readonly prompt: string;
  /** Absent: the model gets none. */
  readonly system?: string | undefined;
  readonly maxTokens: number;
  /** From 0 to 2. Absent: the default of the model. */
  readonly temperature?: number | undefined;
}

/** What one event of a stream adds to what is known of the answer. */
export interface ModelNews {
  /** More text. */
  readonly text?: string;
  readonly stopReason?: string;
  /** Counts so far: the last one that is told counts. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** The model broke off; in its own words. */
  readonly error?: string;
  /** Nothing follows. */
  readonly isEnd?: boolean;
}

/** How one kind of service is asked and answers, as a stream of server-sent events. */
export interface InferenceKind {
  /** `key`: empty for a service that asks for none. */
  readonly request: (prompt: ModelPrompt, key: string) => ProviderRequest;
  /** `data`: the text of one event. Undefined: it says nothing that matters here. */
  readonly read: (data: string) => ModelNews | undefined;
}

/** Another service is one more entry here and one in `inferenceKinds` of the settings. */
export const models: Readonly<Record<InferenceProvider['kind'], InferenceKind>> = {
  anthropic: {
    request: ({ model, prompt, system, maxTokens, temperature }, key) => ({
      method: 'POST',
      path: '/v1/messages',
      headers: { 'anthropic-version': '2023-06-01', ...(key !== '' && { 'x-api-key': key }) },
      body: {
        model,
        max_tokens: maxTokens,
        stream: true,
        messages: [{ role: 'user', content: prompt }],
        ...(system !== undefined && { system }),
        ...(temperature !== undefined && { temperature }),
      },
    }),
    read: readAnthropic,
  },
  openai: {
    request: ({ model, prompt, system, maxTokens, temperature }, key) => ({
      method: 'POST',
      path: '/chat/completions',
      headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      body: {
        model,
        max_tokens: maxTokens,
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          ...(system === undefined ? [] : [{ role: 'system', content: system }]),
          { role: 'user', content: prompt },
        ],
        ...(temperature !== undefined && { temperature }),
      },
    }),
    read: readOpenAi,
  },
};

function readAnthropic(data: string): ModelNews | undefined {
  const event = parse(data);
  switch (event['type']) {
    case 'message_start': {
      const usage = member(member(event, 'message'), 'usage');
      const counts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].map((key) =>
        count(usage[key]),
      );
      if (counts[0] === undefined) return undefined;
      return { inputTokens: counts.reduce<number>((sum, each) => sum + (each ?? 0), 0) };
    }
    case 'content_block_delta':
      return textNews(member(event, 'delta')['text']);
    case 'message_delta': {
      const stopReason = member(event, 'delta')['stop_reason'];
      return {
        ...(typeof stopReason === 'string' && { stopReason }),
        ...counted('outputTokens', member(event, 'usage')['output_tokens']),
      };
    }
    case 'message_stop':
      return { isEnd: true };
    case 'error':
      return { error: textOf(member(event, 'error')['message']) };
    default:
      return undefined;
  }
}

function readOpenAi(data: string): ModelNews | undefined {
  if (data.trim() === '[DONE]') return { isEnd: true };
  const event = parse(data);
  if (event['error'] !== undefined && event['error'] !== null)
    return { error: textOf(member(event, 'error')['message']) };
  const first = Array.isArray(event['choices']) ? (event['choices'][0] as Json | undefined) : undefined;
  const choice = isJsonObject(first) ? first : {};
  const usage = member(event, 'usage');
  const stopReason = choice['finish_reason'];
  return {
    ...textNews(member(choice, 'delta')['content']),
    ...(typeof stopReason === 'string' && { stopReason }),
    ...counted('inputTokens', usage['prompt_tokens']),
    ...counted('outputTokens', usage['completion_tokens']),
  };
}

/** Throws SyntaxError for what is no JSON object. */
function parse(data: string): JsonObject {
  const value = JSON.parse(data) as Json;
  if (!isJsonObject(value)) throw new SyntaxError('an event is no object');
  return value;
}

function member(of: JsonObject, key: string): JsonObject {
  const value = of[key];
  return isJsonObject(value) ? value : {};
}

function textNews(text: Json | undefined): ModelNews | undefined {
  return typeof text === 'string' && text !== '' ? { text } : undefined;
}

function counted(key: 'inputTokens' | 'outputTokens', value: Json | undefined): ModelNews {
  const tokens = count(value);
  return tokens === undefined ? {} : { [key]: tokens };
}

/** Far beyond every model, and sums of it still fit. */
function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000_000
    ? value
    : undefined;
}

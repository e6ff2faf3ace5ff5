import { request } from 'node:http';
import type { RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';

export interface JsonReply {
  readonly status: number;
  readonly json: unknown;
}

/** Posts a JSON text. Without a credential, no authorization is sent. An empty answer is an empty object. */
export function postText(
  target: RequestOptions,
  body: string,
  credential: string,
  more: Readonly<Record<string, string>> = {},
): Promise<JsonReply> {
  const { promise, resolve, reject } = Promise.withResolvers<JsonReply>();
  const authorization = credential === '' ? {} : { authorization: `Bearer ${credential}` };
  const headers = { 'content-type': 'application/json', ...authorization, ...more };
  const sent = request({ ...target, method: 'POST', headers }, (response) => {
    const status = response.statusCode ?? 0;
    text(response)
      .then((answer) => resolve({ status, json: JSON.parse(answer || '{}') }))
      .catch(reject);
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { doors } from '../../call/call.ts';
import type { HttpRoute } from '../transport/http-route.ts';

/** The OpenAPI document of the plain HTTP calls, as JSON. It is the same for everyone, so no credential is asked for. */
export function openApiRoute(): HttpRoute {
  let text: string | undefined;
  return {
    method: 'GET',
    path: '/openapi.json',
    doors,
    handle: (_request, response) => {
      // Read when first asked for: most daemons never are, and start the sooner.
      text ??= JSON.stringify(readOpenApi());
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        'x-content-type-options': 'nosniff',
      });
      response.end(text);
    },
  };
}

export function readOpenApi(): Record<string, unknown> {
  const file = fileURLToPath(import.meta.resolve('#openapi.yaml'));
  return load(readFileSync(file, 'utf8')) as Record<string, unknown>;
}

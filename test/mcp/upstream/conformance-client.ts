import type { Json, JsonObject } from '@sallyport/contract';
import { Upstream } from '../../../packages/gateway/src/upstreams/upstream.ts';

/**
 * What the official suite starts as a client: the gate's own connection to an upstream server. It lists the tools and
 * calls each of them, as the suite asks or else with anything that fits.
 */
const url = process.argv.at(-1) ?? '';
const asked = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
};
const notHere = (): never => {
  throw new Error('only servers that run elsewhere are tested');
};
const upstream = new Upstream(
  { name: 'suite', file: 'suite.yaml', endpoint: { kind: 'http', url }, idleMs: 60_000, assigned: new Map() },
  {
    version: '1.0.0',
    programs: { open: notHere },
    readSecret: notHere,
    protectedPaths: { explain: () => undefined },
    onTools: () => undefined,
    onRefusedRequest: (_name, method) => tell(`refused ${method}`),
    onTrouble: (_name, reason) => tell(reason),
  },
);
await upstream.connect();
const calls =
  asked.toolCalls ?? (upstream.tools ?? []).map(({ name, inputSchema }) => ({ name, arguments: sample(inputSchema) }));
for (const { name, arguments: args } of calls) {
  try {
    await upstream.call(name, args, {
      signal: AbortSignal.timeout(20_000),
      timeoutMs: 20_000,
      onProgress: () => undefined,
      confirm: () => undefined,
    });
  } catch (error) {
    tell(`${name}: ${String(error)}`);
  }
}
await upstream.close();

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

function sample({ properties = {} }: { readonly properties?: object | undefined }): JsonObject {
  const values: Record<string, Json> = { string: 'text', number: 3, integer: 3, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    Object.entries(properties as Record<string, { readonly type?: string }>).map(([name, { type = 'string' }]) => [
      name,
      values[type] ?? 'text',
    ]),
  );
}

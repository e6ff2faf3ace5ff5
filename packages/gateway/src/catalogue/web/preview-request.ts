import { makeVisibleLine } from '@sallyport/contract';
import type { Effect, ToolContext } from '../../call/tool.ts';
import { checkHost, HostRefused, parseHostPattern } from '@sallyport/sandbox';
import { mostRedirects, refuseHost } from './reach.ts';
import type { WebAsk } from './reach.ts';
import type { WebAddress } from './web-address.ts';

/** The request as it would be sent, for the person who decides. Of stored secrets only the names are known here. */
export function previewRequest(ask: Omit<WebAsk, 'argumentsFor'>, { grants }: ToolContext): Effect {
  const { method, address, headers, body, followsRedirects } = ask;
  checkGranted(address, grants.hosts);
  const bound = grants.secrets.filter(({ header }) => header !== undefined);
  const lines = [
    `sends: ${method} ${address.url.href}`,
    ...Object.entries(headers).map(([name, value]) => `with: ${name}: ${value}`),
    ...bound.map(
      ({ name, header, hosts }) =>
        `with: ${header?.name}: the stored secret ${name}, if the host is ${hosts.join(' or ')}`,
    ),
    ...(followsRedirects
      ? [`follows: at most ${mostRedirects} redirects, on this host and to hosts that the rules allow without asking`]
      : []),
    ...(body === undefined
      ? []
      : [
          'body:',
          ...Buffer.from(body)
            .toString()
            .split('\n')
            .map((line) => `  | ${line}`),
        ]),
  ];
  return {
    summary: makeVisibleLine(`${method} ${address.url.href}`),
    detail: lines.map((line) => `${makeVisibleLine(line)}\n`).join(''),
    undoable: false,
  };
}

/** Nobody is asked about a machine that the gate would not connect to whatever they say. */
function checkGranted(address: WebAddress, granted: readonly string[]): void {
  if (!address.isAddress) return;
  try {
    checkHost(address.authority, granted.map(parseHostPattern));
  } catch (error) {
    throw error instanceof HostRefused ? refuseHost(error, address) : error;
  }
}

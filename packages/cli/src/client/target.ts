import { usageFailure } from './failure.ts';

/** Where a daemon listens, as `net.connect` takes it. */
export type Target = { readonly path: string } | { readonly host: string; readonly port: number };

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/** Undefined when no address is set. Only this machine: what is sent there is not encrypted, and holds a credential. */
export function readAddress(text: string | undefined): Target | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const { protocol = '', hostname = '', port = '', href = '' } = url ?? {};
  // Whatever else an address can hold would be set aside silently.
  if (protocol === 'http:' && loopback.includes(hostname) && href === `http://${hostname}${port && ':'}${port}/`) {
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
  }
  throw usageFailure(
    `SALLYPORT_ADDRESS is not the address of a daemon on this machine: ${text}`,
    'Set it to the address that `sallyport status` shows, such as http://127.0.0.1:4780, or unset it.',
  );
}

export function describeTarget(target: Target): string {
  if ('path' in target) return target.path;
  return `http://${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
}

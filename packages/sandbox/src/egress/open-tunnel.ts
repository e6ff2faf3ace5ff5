import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * Joins two connections until both directions have ended, or one of them fails. The gate does not read what they send.
 */
export function openTunnel(client: Socket, upstream: Socket, head: Buffer): void {
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) upstream.write(head);
  const close = (error: Error | null | undefined): void => {
    if (!error) return;
    client.destroy();
    upstream.destroy();
  };
  pipeline(client, upstream, close);
  pipeline(upstream, client, close);
}

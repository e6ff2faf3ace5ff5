import type { Connection } from '../connection.ts';

const reasons = process.getBuiltinModule('node:http').STATUS_CODES;

export function reasonOf(status: number): string {
  return reasons[status] ?? 'Unknown';
}

/** Whether the connection stays, in the words of `node:http`. */
export function describeKeeping({ stopping, context }: Connection): string {
  return stopping
    ? 'connection: close'
    : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(context.limits.idleTimeoutMs / 1000)}`;
}

let date = '';
let dateSecond = 0;

export function dateNow(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date().toUTCString();
  }
  return date;
}

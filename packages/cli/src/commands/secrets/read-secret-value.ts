import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { describeError, interrupted, usageFailure } from '../../client/failure.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/**
 * A secret from the person at the terminal, who does not see it, or from a pipe, without the newline at its end. Never
 * from an argument: every user of the machine sees arguments, and shells remember them.
 */
export async function readSecretValue(question: string, terminal: Terminal): Promise<string> {
  const value = process.stdin.isTTY ? await askUnseen(question, terminal) : readPiped();
  if (value === '') throw usageFailure('No value was given.', 'Type it when you are asked, or pipe it in.');
  return value;
}

async function askUnseen(question: string, terminal: Terminal): Promise<string> {
  // The terminal echoes nothing while readline reads; what readline itself would show goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  const leave = new AbortController();
  lines.on('SIGINT', () => leave.abort());
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  lines.once('close', () => end(''));
  terminal.progress(question);
  try {
    return await Promise.race([lines.question('', { signal: leave.signal }), ended]);
  } catch (error) {
    throw leave.signal.aborted ? interrupted() : error;
  } finally {
    terminal.progress('');
    lines.close();
  }
}

function readPiped(): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(0);
  } catch (error) {
    throw usageFailure(`The value cannot be read: ${describeError(error)}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw usageFailure('The value is not UTF-8 text.', 'Encode it first, for example with base64.');
  }
}

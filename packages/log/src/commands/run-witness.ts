import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createSigningKey, openSigner, parseVerifier } from '../checkpoint.ts';
import type { Signer } from '../checkpoint.ts';
import { keyTypes } from '../note.ts';
import { serveWitness } from '../witness/serve-witness.ts';
import { Witness } from '../witness/witness.ts';
import { readKey } from './read-key.ts';

export interface RunWitnessOptions {
  /** What the witness is called in its signatures, such as `witness.example.org/w1`. Needed once, for the key. */
  readonly name?: string | undefined;
  /** Public keys of the logs to watch, as text or in files. */
  readonly log?: readonly string[] | undefined;
  /** host:port. */
  readonly listen?: string | undefined;
}

/** Runs until it is told to stop. Rejects when it cannot begin. */
export async function runWitness(folder: string, { name, log = [], listen = '127.0.0.1:7380' }: RunWitnessOptions) {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(listen) ?? [];
  if (host === undefined) throw new Error('--listen takes host:port.');
  if (log.length === 0) throw new Error('Name the logs to watch with --log KEY.');
  const logs = log.map((key) => parseVerifier(readKey(key)));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const signer = openWitnessKey(join(folder, 'witness.key'), name);
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const server = serveWitness(new Witness({ signer, logs, folder }), (error) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: Number(port) }, resolve);
  });
  const { address, port: taken } = server.address() as AddressInfo;
  say(`Key: ${signer.verifier}`);
  say(`Witnessing ${logs.map((each) => each.name).join(', ')} at http://${address}:${taken}`);
  const ended = new Promise<void>((resolve) => {
    server.once('close', resolve);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
  await ended;
}

/** Made at the first run. Anyone who has it can cosign checkpoints that the witness never saw. */
function openWitnessKey(file: string, name: string | undefined): Signer {
  if (!existsSync(file)) {
    if (name === undefined) throw new Error('Name the witness with --name; its key is made at the first run.');
    writeFileSync(file, `${createSigningKey(name, keyTypes.cosignature).privateKey}\n`, { mode: 0o600, flag: 'wx' });
  }
  const signer = openSigner(readFileSync(file, 'utf8'), keyTypes.cosignature);
  if (name !== undefined && name !== signer.name) throw new Error(`The key in ${file} is that of ${signer.name}.`);
  return signer;
}

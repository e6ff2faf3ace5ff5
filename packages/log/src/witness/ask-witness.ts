import { isSignedBy } from '../checkpoint.ts';
import { cosignaturesOf } from '../cosigned-message.ts';
import { CheckpointError, keyTypes, parsePublicKey, readCheckpointBody, readNote, readSize } from '../note.ts';

export interface WitnessPlace {
  /** The public key of the witness, for cosignatures. */
  readonly key: string;
  /** The submission prefix. */
  readonly url: string;
}

export interface WitnessQuestion {
  /** The signed checkpoint. */
  readonly note: string;
  /** The consistency proof from a tree of this size to that of the checkpoint. */
  readonly proveFrom: (oldSize: number) => readonly Uint8Array[];
}

/** The witness did not sign. The message says why, for an operator. */
export class WitnessRefusal extends Error {
  override readonly name = 'WitnessRefusal';
  /** The witness saw another history than this log has now. */
  readonly isSplit: boolean;

  constructor(message: string, { isSplit = false, ...options }: ErrorOptions & { readonly isSplit?: boolean } = {}) {
    super(message, options);
    this.isSplit = isSplit;
  }
}

const waitMs = 15_000;
const mostAnswerCharacters = 64 * 1024;
/** The witness may see another checkpoint of the log between two requests. */
const mostTries = 4;

/** The lines of the witness, checked with its key, to be put below the checkpoint. Throws WitnessRefusal. */
export async function askWitness({ key, url }: WitnessPlace, { note, proveFrom }: WitnessQuestion): Promise<string> {
  const witness = parsePublicKey(key, keyTypes.cosignature);
  const { size } = readCheckpointBody(readNote(note).body);
  let oldSize = 0;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const proof = oldSize === 0 ? [] : proveFrom(oldSize);
    const lines = proof.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('');
    const { status, body } = await post(url, `old ${oldSize}\n${lines}\n${note}`, witness.name);
    if (status === 200) return checkLines(note, body, witness);
    if (status === 422) throw new WitnessRefusal(`${witness.name} saw another history of this log.`, { isSplit: true });
    const seen = status === 409 ? readSize(body.trim()) : undefined;
    if (seen === undefined) throw new WitnessRefusal(`${witness.name} answered ${status}.`);
    if (seen > size) {
      const said = `${witness.name} saw ${seen} records of this log, and the checkpoint has ${size}.`;
      throw new WitnessRefusal(said, { isSplit: true });
    }
    oldSize = seen;
  }
  throw new WitnessRefusal(`${witness.name} names another size each time.`);
}

async function post(url: string, body: string, name: string): Promise<{ status: number; body: string }> {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/add-checkpoint`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'text/plain' },
      redirect: 'error',
      signal: AbortSignal.timeout(waitMs),
    });
    return { status: response.status, body: (await response.text()).slice(0, mostAnswerCharacters) };
  } catch (error) {
    throw new WitnessRefusal(`${name} cannot be reached.`, { cause: error });
  }
}

/** Lines of other keys are left out, as the protocol says. */
function checkLines(note: string, answer: string, witness: ReturnType<typeof parsePublicKey>): string {
  const own = answer
    .split('\n')
    .filter((line) => line !== '' && isOf(`${note}${line}\n`, witness))
    .map((line) => `${line}\n`);
  if (own.length === 0) throw new WitnessRefusal(`${witness.name} answered without a signature of its key.`);
  return own.join('');
}

function isOf(note: string, witness: ReturnType<typeof parsePublicKey>): boolean {
  try {
    const found = cosignaturesOf(readNote(note), witness);
    return found.some(({ message, signature }) => isSignedBy(witness, message, signature));
  } catch (error) {
    if (error instanceof CheckpointError) return false;
    throw error;
  }
}

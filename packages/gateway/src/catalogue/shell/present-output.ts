import { isUtf8 } from 'node:buffer';
import { constants } from 'node:os';
import type { JsonObject } from '@sallyport/contract';
import type { CapturedText, ProgramOutput } from '../../programs/run/run-program.ts';
import type { Withheld } from '../../programs/leavings/set-aside-forbidden.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** How much of each stream the answer itself contains. */
export const inlineBytes = 256 * 1024;

/** How a program ended and what it wrote. A code other than 0 is no failure of the call. */
export interface PresentedOutput extends JsonObject {
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const streamProperties = (stream: 'stdout' | 'stderr'): Readonly<Record<string, JsonObject>> => ({
  [stream]: schema.string(`What the program wrote to ${stream}, from its beginning.`),
  [`${stream}_truncated`]: schema.boolean('Whether the program wrote more than is shown. Absent: no.'),
  [`${stream}_bytes`]: schema.count('How many bytes it wrote. Present only when the output was cut.'),
  [`${stream}_hash`]: schema.string('Hash of the whole output in the content store, for content.get.'),
  [`${stream}_lossy`]: schema.boolean(
    'Whether the output was not valid UTF-8, so that U+FFFD replaces some characters. Absent: no.',
  ),
});

const optionalOf = (stream: string): readonly string[] =>
  ['truncated', 'bytes', 'hash', 'lossy'].map((name) => `${stream}_${name}`);

/** The schema of outputs; `more` adds properties, which are optional. */
export function outputSchema(more: Readonly<Record<string, JsonObject>> = {}) {
  return schema.object(
    {
      exit_code: schema.integer('The exit code; 128 plus the number of the signal when a signal ended the program.', {
        minimum: 0,
        maximum: 255,
      }),
      signal: schema.string('The signal that ended the program. Absent: it ended by itself.'),
      ...streamProperties('stdout'),
      ...streamProperties('stderr'),
      refused_hosts: schema.array('Hosts that the program tried to reach and that no rule grants. Absent: none.', {
        type: 'string',
      }),
      refused_more: schema.integer('How many more connections were refused.', { minimum: 1 }),
      ...more,
    },
    {
      optional: [
        'signal',
        ...optionalOf('stdout'),
        ...optionalOf('stderr'),
        'refused_hosts',
        'refused_more',
        ...Object.keys(more),
      ],
    },
  );
}

export function presentOutput({ how, stdout, stderr, network }: ProgramOutput): PresentedOutput {
  const refusedHosts = network.targetsOf('refused');
  const { refused: refusedMore } = network.beyond;
  return {
    ...(how.kind === 'exited' ? { exit_code: how.code } : { exit_code: codeOf(how.signal), signal: how.signal }),
    stdout: '',
    stderr: '',
    ...presentStream('stdout', stdout),
    ...presentStream('stderr', stderr),
    ...(refusedHosts.length === 0 ? {} : { refused_hosts: refusedHosts }),
    ...(refusedMore === undefined ? {} : { refused_more: refusedMore }),
  };
}

/** For tools whose programs change folders. */
export const withheldProperties = {
  withheld: schema.array(
    'The new names of files that the program created under names that the rules forbid. Absent: none.',
    { type: 'string' },
  ),
  withheld_more: schema.integer('How many more were renamed. Absent: none.', { minimum: 1 }),
};

export function presentWithheld({ paths, count }: Withheld): JsonObject {
  if (count === 0) return {};
  return { withheld: paths, ...(count > paths.length ? { withheld_more: count - paths.length } : {}) };
}

function presentStream(stream: 'stdout' | 'stderr', captured: CapturedText): JsonObject {
  const { truncated, totalBytes, contentHash } = captured;
  const bytes = truncated ? dropHalfCharacter(captured.bytes) : captured.bytes;
  return {
    [stream]: bytes.toString('utf8'),
    ...(truncated ? { [`${stream}_truncated`]: true, [`${stream}_bytes`]: totalBytes } : {}),
    ...(contentHash === undefined ? {} : { [`${stream}_hash`]: contentHash }),
    ...(isUtf8(bytes) ? {} : { [`${stream}_lossy`]: true }),
  };
}

/** Where text was cut, its last character may be unfinished. */
function dropHalfCharacter(bytes: Buffer): Buffer {
  for (let missing = 1; missing <= 3; missing++) {
    const byte = bytes.at(-missing) ?? 0;
    if (byte < 0x80) break;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (needed > missing) return bytes.subarray(0, -missing);
    if (needed > 0) break;
  }
  return bytes;
}

function codeOf(signal: string): number {
  const number: unknown = (constants.signals as Readonly<Record<string, number>>)[signal];
  return 128 + (typeof number === 'number' ? number : 0);
}

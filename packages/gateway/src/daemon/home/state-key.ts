import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../call/fault.ts';
import type { Home } from './home.ts';
import { readOrCreateSecret, readSecret, replaceSecret } from './secret-files.ts';

export interface StateKey {
  readonly key: string;
  /** Until `keep` was called once, the state is taken over as it is found. */
  readonly isNew: boolean;
  readonly keep: () => void;
}

const newPrefix = 'new ';

/**
 * The key that authenticates the state beside the log. If it does not exist it is made, and says of itself that it is new
 * until the first commit with it is on disk: a crash in between must not look like state that somebody changed.
 */
export function openStateKey(home: Home): StateKey {
  const text = readOrCreateSecret(home.stateKeyFile, () => `${newPrefix}${randomBytes(32).toString('base64')}`);
  const { key, isNew } = parseStateKey(home, text);
  return { key, isNew, keep: () => isNew && replaceSecret(home.stateKeyFile, key) };
}

/** Undefined: the key does not exist, or nothing was authenticated with it yet. */
export function readStateKey(home: Home): string | undefined {
  const text = readSecret(home.stateKeyFile);
  const { key, isNew } = text === undefined ? {} : parseStateKey(home, text);
  return isNew === true ? undefined : key;
}

function parseStateKey(home: Home, text: string): Pick<StateKey, 'key' | 'isNew'> {
  const isNew = text.startsWith(newPrefix);
  const key = isNew ? text.slice(newPrefix.length) : text;
  if (Buffer.from(key, 'base64').length !== 32) {
    throw new ConfigError(
      `${home.stateKeyFile} is damaged: it is not a key of 32 bytes.`,
      'Restore it from a backup. Without one, remove it: the next start takes the state of the gate over as it finds it, ' +
        'and records that in the audit log.',
    );
  }
  return { key, isNew };
}

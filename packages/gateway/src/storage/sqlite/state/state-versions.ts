import type { Admitted, Aspect } from '../../stores.ts';
import type { Operation, Recorded } from '../operation.ts';

/** The parts of the snapshot that an operation changed; they are read again. */
export type Touched =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'mode' | 'organisation' | 'tool-pins' | 'workspace-roots' | 'standing' };

/** Counts the changes that were made to what the gates read. Kept by the writer for as long as the daemon runs. */
export class StateVersions {
  readonly #sessions = new Map<string, number>();
  #version = 0;
  #mode = 0;
  #organisation = 0;

  /** A change that is rolled back afterwards only causes calls to be judged again. */
  note(touched: readonly Touched[]): number {
    this.#version++;
    for (const each of touched) {
      if (each.kind === 'mode') this.#mode = this.#version;
      if (each.kind === 'organisation') this.#organisation = this.#version;
      if (each.kind === 'session') this.#sessions.set(each.id, this.#version);
    }
    return this.#version;
  }

  changedSince(version: number, sessionId: string): Aspect | undefined {
    if (version >= this.#version) return undefined;
    if (this.#mode > version) return 'mode';
    if (this.#organisation > version) return 'organisation';
    return (this.#sessions.get(sessionId) ?? 0) > version ? 'session' : undefined;
  }
}

/** What an operation that ended with this value has changed. */
export function touchedBy(operation: Operation, value: unknown): readonly Touched[] {
  switch (operation.name) {
    case 'createSession':
      return [{ kind: 'session', id: operation.session.id }];
    case 'endSession':
      return [{ kind: 'session', id: operation.id }];
    case 'grantLease':
    case 'revokeLease':
      return [{ kind: 'session', id: operation.sessionId }];
    case 'settle':
    case 'append': {
      const { quarantined } = value as Recorded;
      return quarantined === undefined ? [] : [{ kind: 'session', id: quarantined }];
    }
    case 'openAnomaly': {
      const { quarantined } = value as { readonly quarantined: boolean };
      return quarantined ? [{ kind: 'session', id: operation.anomaly.sessionId }] : [];
    }
    case 'changeMode':
      return value === true ? [{ kind: 'mode' }] : [];
    case 'changeOrganisation':
      return [{ kind: 'organisation' }];
    case 'pinTool':
    case 'unpinTool':
      return [{ kind: 'tool-pins' }];
    case 'putWorkspaceRoot':
    case 'removeWorkspaceRoot':
      return [{ kind: 'workspace-roots' }];
    case 'grantStanding':
    case 'revokeStanding':
      return [{ kind: 'standing' }];
    case 'admit': {
      const isUsed = (value as Admitted).admitted && operation.admission.consent?.kind === 'standing';
      return isUsed ? [{ kind: 'standing' }] : [];
    }
    default:
      return [];
  }
}

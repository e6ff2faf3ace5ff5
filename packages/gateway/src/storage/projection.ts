import type { StandingApproval } from '../call/approval.ts';
import type { Organisation } from '../call/organisation.ts';
import type { Mode, Session } from '../call/session.ts';
import type { ToolPin, WorkspaceRoot } from './repositories.ts';
import type { Aspect, Change, Snapshot } from './snapshot.ts';

/**
 * How many ended sessions it keeps, so that their callers learn that they ended. Older ones are read from the store.
 */
export const mostEnded = 2000;

interface Known {
  readonly session: Session;
  readonly tokenSha256: string;
  readonly version: number;
}

/** The snapshot for any adapter, which loads the state once and then passes on each change. */
export class Projection implements Snapshot {
  readonly #sessions = new Map<string, Known>();
  readonly #byToken = new Map<string, string>();
  readonly #listeners = new Set<(change: Change, version: number) => void>();
  readonly #isTrueAt: () => number;
  #ended = 0;
  #version = 0;
  #mode: Mode = 'LOCKDOWN';
  #modeVersion = 0;
  #organisation: Organisation;
  #organisationVersion = 0;
  #pins: readonly ToolPin[] = [];
  #roots: readonly WorkspaceRoot[] = [];
  #standing: readonly StandingApproval[] = [];

  /** `trueAtMs` says when the adapter last knew that it had every change. */
  constructor(organisation: Organisation, trueAtMs: () => number) {
    this.#organisation = organisation;
    this.#isTrueAt = trueAtMs;
  }

  /** Changes come in the order of their versions. One that is older than what is known changes nothing. */
  apply(change: Change, version: number): void {
    if (version < this.#version) return;
    this.#version = version;
    switch (change.kind) {
      case 'session':
        this.#put(change, version);
        break;
      case 'mode':
        this.#mode = change.mode;
        this.#modeVersion = version;
        break;
      case 'organisation':
        this.#organisation = change.organisation;
        this.#organisationVersion = version;
        break;
      case 'tool-pins':
        this.#pins = change.pins;
        break;
      case 'workspace-roots':
        this.#roots = change.roots;
        break;
      case 'standing':
        this.#standing = change.standing;
    }
    for (const listener of this.#listeners) listener(change, version);
  }

  readonly version = (): number => this.#version;

  readonly trueAtMs = (): number => this.#isTrueAt();

  readonly changedSince = (version: number, sessionId: string): Aspect | undefined => {
    if (version === this.#version) return undefined;
    if (this.#modeVersion > version) return 'mode';
    if (this.#organisationVersion > version) return 'organisation';
    return (this.#sessions.get(sessionId)?.version ?? Infinity) > version ? 'session' : undefined;
  };

  readonly onChange = (listener: (change: Change, version: number) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly findSession = (id: string): Session | undefined => this.#sessions.get(id)?.session;

  readonly findSessionByToken = (tokenSha256: string): Session | undefined => {
    const id = this.#byToken.get(tokenSha256);
    return id === undefined ? undefined : this.findSession(id);
  };

  readonly liveSessions = (): readonly Session[] =>
    [...this.#sessions.values()].flatMap(({ session }) => (session.status === 'ended' ? [] : session));

  readonly readMode = (): Mode => this.#mode;

  readonly readOrganisation = (): Organisation => this.#organisation;

  readonly listToolPins = (): readonly ToolPin[] => this.#pins;

  readonly listWorkspaceRoots = (): readonly WorkspaceRoot[] => this.#roots;

  readonly listStanding: Snapshot['listStanding'] = ({ sessionId, nowMs }) =>
    this.#standing.filter(
      (each) =>
        (sessionId === undefined || each.sessionId === sessionId) && each.expiresAtMs > nowMs && each.usesLeft !== 0,
    );

  #put({ session, tokenSha256 }: Extract<Change, { kind: 'session' }>, version: number): void {
    const before = this.#sessions.get(session.id);
    if (before !== undefined) this.#byToken.delete(before.tokenSha256);
    if (session.status === 'ended' && before?.session.status !== 'ended') this.#ended++;
    this.#sessions.set(session.id, { session, tokenSha256, version });
    this.#byToken.set(tokenSha256, session.id);
    if (this.#ended > mostEnded) this.#forgetEnded();
  }

  #forgetEnded(): void {
    for (const [id, { session, tokenSha256 }] of this.#sessions) {
      if (session.status !== 'ended') continue;
      this.#sessions.delete(id);
      this.#byToken.delete(tokenSha256);
      if (--this.#ended <= mostEnded / 2) return;
    }
  }
}

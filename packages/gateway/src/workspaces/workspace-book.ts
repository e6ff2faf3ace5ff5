import { hash } from 'node:crypto';
import { spellCount } from '@sallyport/contract';
import { isWithin } from '@sallyport/sandbox';
import type { Session } from '../call/session.ts';
import type { ProjectWorkspace } from '../policy/language/load-rules.ts';
import type { Snapshot, WorkspaceRoot } from '../storage/stores.ts';
import { hashProjectRules, inspectProjectRules, rulesInForce } from './project-rules.ts';
import type { ProjectRulesState } from './project-rules.ts';

const mostRemembered = 1000;

export interface WorkspaceBookParts {
  readonly index: Pick<Snapshot, 'listWorkspaceRoots'>;
  /** The daemon's own workspace: the first root, accepted by starting the daemon. Without links. */
  readonly own: string;
  readonly userHome: string;
}

/** An accepted root, and how the rules of its project are. */
export interface InspectedRoot extends Partial<WorkspaceRoot> {
  readonly path: string;
  readonly isOwn: boolean;
  readonly state: ProjectRulesState;
}

/** Which folders operators accepted, and where each session works. */
export class WorkspaceBook {
  readonly #parts: WorkspaceBookParts;
  readonly #known = new Map<string, ProjectWorkspace | undefined>();
  #listed: readonly WorkspaceRoot[] = [];

  constructor(parts: WorkspaceBookParts) {
    this.#parts = parts;
  }

  get own(): string {
    return this.#parts.own;
  }

  /** Where a session works: the same object until something about it changes. Undefined: that is not accepted. */
  readonly of = ({ workspace = this.own }: Pick<Session, 'workspace'>): ProjectWorkspace | undefined => {
    const listed = this.#parts.index.listWorkspaceRoots();
    if (listed !== this.#listed || this.#known.size >= mostRemembered) {
      this.#known.clear();
      this.#listed = listed;
    }
    if (!this.#known.has(workspace)) this.#known.set(workspace, this.#describe(workspace));
    return this.#known.get(workspace);
  };

  /** Every accepted root, the daemon's own first. */
  get roots(): readonly string[] {
    const added = this.#parts.index.listWorkspaceRoots().map(({ path }) => path);
    return [this.own, ...added.filter((path) => path !== this.own)];
  }

  /** The innermost accepted root around a folder. Expects a path without links. */
  findRoot(folder: string): string | undefined {
    const around = this.roots.filter((root) => isWithin(root, folder));
    return around.sort((a, b) => b.length - a.length)[0];
  }

  /** What is kept about a root. Undefined: it is not accepted, or it is the daemon's own and has no rules. */
  find(path: string): WorkspaceRoot | undefined {
    return this.#parts.index.listWorkspaceRoots().find((root) => root.path === path);
  }

  /** Reads the rule files of all projects. */
  inspect(): readonly InspectedRoot[] {
    return this.roots.map((path) => {
      const kept = this.find(path);
      return { ...kept, path, isOwn: path === this.own, state: inspectProjectRules(path, kept?.rules) };
    });
  }

  #describe(folder: string): ProjectWorkspace | undefined {
    const root = this.findRoot(folder);
    if (root === undefined) return undefined;
    const accepted = this.find(root)?.rules;
    const rules = accepted && {
      rulesSha256: hashProjectRules(accepted.bytes),
      projectRules: rulesInForce(root, accepted, this.#parts.userHome),
    };
    const otherRoots = this.roots.filter((each) => each !== root);
    const key = hash('sha256', JSON.stringify([folder, root, otherRoots, rules?.rulesSha256 ?? null]));
    return { folder, root, otherRoots, key, ...rules };
  }
}

const troubles: { readonly [State in ProjectRulesState]?: string } = {
  waiting: 'are not accepted, so they are not in force',
  changed: 'have changed; the accepted ones stay in force',
  gone: 'are gone; the accepted ones stay in force',
  unreadable: 'cannot be read, or are a link',
};

/** What an operator should look at, a sentence each. */
export function describeRootTrouble(roots: readonly InspectedRoot[]): readonly string[] {
  return roots.flatMap(({ path, state }) => {
    const trouble = troubles[state];
    return trouble === undefined
      ? []
      : [`The rules of the project ${path} ${trouble}: sallyport workspace accept ${path}`];
  });
}

/** Sessions that can do nothing, such as after a start of the daemon in another folder, a sentence for each folder. */
export function describeStranded(book: WorkspaceBook, sessions: readonly Session[]): readonly string[] {
  const lost = sessions.filter(({ status, ...session }) => status === 'active' && book.of(session) === undefined);
  return [...Map.groupBy(lost, ({ workspace = '' }) => workspace)].map(
    ([folder, those]) =>
      `${folder} is not accepted, so ${spellCount(those.length, 'session')} in it can call nothing: sallyport workspace add ${folder}`,
  );
}

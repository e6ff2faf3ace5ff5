import type { ActivityIndex } from '../../audit/search/activity.ts';
import type { SearchIndex } from '../../audit/search/search-page.ts';
import type { AppliedRules } from '../files/applied-rules.ts';
import type { LoadedRules, ProjectWorkspace } from '../language/load-rules.ts';
import type { Session } from '../../call/session.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Store } from '../../storage/stores.ts';
import * as schema from '../../registry/schemas/schema.ts';

export interface PolicyToolParts {
  readonly rules: AppliedRules;
  readonly registry: Registry;
  readonly store: Pick<
    Store,
    | 'logSize'
    | 'readRecords'
    | 'readDecided'
    | 'readRecordsOfCall'
    | 'readMode'
    | 'readOrganisation'
    | 'listApprovals'
    | 'readSession'
    | 'listSessions'
    | 'usedOf'
  >;
  /** Counts how often each rule decided. */
  readonly index: Pick<SearchIndex, 'search'> & Pick<ActivityIndex, 'readTotals'>;
  /** The daemon's own. */
  readonly workspace: string;
  /** Where a session works. Undefined: no operator accepts that, or not any more. */
  readonly workspaceOf: (session: Pick<Session, 'workspace'>) => ProjectWorkspace | undefined;
  /** Hears that other rules are in force. */
  readonly onApplied: () => void;
}

/** Going through the log takes as long as there are records, and so does trying many cases. */
export const longTimeoutMs = 10 * 60_000;

export interface RulesArgument {
  readonly rules: 'applied' | 'files';
}

export const rulesProperty = schema.choice('The rules in force, or the files as they are now.', ['applied', 'files'], {
  default: 'applied',
});

export function chooseRules(rules: AppliedRules, { rules: which }: RulesArgument): LoadedRules {
  return which === 'files' ? rules.preview() : rules.current;
}

import type { SearchIndex } from '../../audit/search/search-page.ts';
import type { Session } from '../../call/session.ts';
import type { AnyTool } from '../../call/tool.ts';
import type { Rules } from '../../call/verdict.ts';
import type { ContentStore } from '../../content/content-store.ts';
import { ErasureClock } from '../../erasure/erasure-clock.ts';
import { erasureTools } from '../../erasure/tools.ts';
import type { Registry } from '../../registry/registry.ts';
import { ArchiveFolder } from '../../storage/archive/archive-folder.ts';
import type { Store } from '../../storage/stores.ts';
import type { CallEvents } from '../../telemetry/call-events.ts';
import type { EventLog } from '../../telemetry/event-log.ts';
import type { Home } from '../home/home.ts';

export interface ErasuresSource {
  readonly home: Home;
  readonly store: Store;
  readonly registry: Pick<Registry, 'find'>;
  readonly content: Pick<ContentStore, 'erase' | 'dropUnknown'>;
  readonly index: Pick<SearchIndex, 'forgetErased'>;
  readonly currentRules: () => Rules;
  readonly isDirector: (person: Session) => boolean;
  readonly log: EventLog;
  readonly events: Pick<CallEvents, 'dropLines'>;
}

export interface OpenedErasures {
  readonly tools: readonly AnyTool[];
  /** Does what is due, and goes on from there. */
  readonly wake: () => void;
  readonly close: () => Promise<void>;
}

/** Results of dedupe keys are kept for an hour, and are gone soon after it. */
const forgetEveryMs = 5 * 60_000;

/** Puts together what forgets. */
export function openErasures(source: ErasuresSource): OpenedErasures {
  const { home, store, registry, content, index, currentRules, isDirector, log, events } = source;
  const archive = new ArchiveFolder(home.archiveFolder);
  const parts = {
    store,
    isAdministration: (tool: string) => registry.find(tool)?.tool.definition.category === 'administration',
    archive,
    keepDays: () => currentRules().limits.keepPayloadDays,
    nowMs: () => Date.now(),
  };
  const clock = new ErasureClock({
    ...parts,
    trashFolder: home.trashFolder,
    content,
    forgetInIndex: index.forgetErased,
    dropLines: async (isDropped) => {
      await events.dropLines(isDropped);
      await log.dropLines(isDropped);
    },
    onErased: (id) => log.info('erasure_done', { erasure: id }),
    onFault: (error) => log.error('erasure_failed', { error }),
  });
  const forgetting = setInterval(() => {
    // A sealed store forgets later.
    store.forgetExpired(Date.now()).catch(() => undefined);
  }, forgetEveryMs).unref();
  return {
    tools: erasureTools({ ...parts, isDirector, archiveFolder: home.archiveFolder, onRequested: clock.wake }),
    wake: clock.wake,
    close: async () => {
      clearInterval(forgetting);
      await clock.close();
    },
  };
}

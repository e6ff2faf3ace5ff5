import { join } from 'node:path';
import { writeSdkRuntime } from '../../programs/run/sdk-runtime.ts';
import type { ProgramRunner } from '@sallyport/sandbox';
import type { Rules } from '../../call/verdict.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Store } from '../../storage/stores.ts';
import type { EventLog } from '../../telemetry/event-log.ts';
import type { SubmitStep } from '../../pipelines/submit-step.ts';
import { openInstalledTools } from '../../programs/tools/open-installed-tools.ts';
import type { OpenedTools } from '../../programs/tools/open-installed-tools.ts';
import { prepareToolsFolder } from '../home/home.ts';
import type { Home } from '../home/home.ts';
import { findOpenFolder, makeOpenFolder } from '../home/open-folder.ts';
import { recordToolEvents } from './record-tool-events.ts';

export interface ToolFolderParts {
  readonly home: Home;
  /** Where the operator puts them. */
  readonly folder: string;
  readonly store: Store;
  readonly registry: Registry;
  readonly programs: ProgramRunner;
  readonly currentRules: () => Rules;
  /** Asked for only once calls come in. */
  readonly submitStep: SubmitStep;
  readonly redactor: Redactor;
  readonly log: EventLog;
}

/** The tools folder of this home: its files are recorded in the log when they are first seen. */
export async function openTools({
  home,
  folder,
  store,
  registry,
  programs,
  currentRules,
  submitStep,
  redactor,
  log,
}: ToolFolderParts): Promise<OpenedTools> {
  const open = findOpenFolder(home.folder);
  const onError = (error: unknown): void => log.error('tool_event_unrecorded', { error });
  const { record, recordEvent } = recordToolEvents({ store, redactor, onError });
  prepareToolsFolder(folder);
  makeOpenFolder(open);
  makeOpenFolder(join(open, 'tools'));
  return openInstalledTools({
    registry,
    programs,
    submitStep,
    folder,
    stateFolder: home.toolsFolder,
    storeFolder: makeOpenFolder(join(open, 'tools', 'store')),
    sdk: writeSdkRuntime(makeOpenFolder(join(open, 'sdk'))),
    pins: store,
    acceptsNew: (name, origin) => currentRules().acceptsNew(name, origin),
    recordEvent,
    recordSchemaRun: ({ file, sha256, answer, reason }) =>
      record({
        event: 'tool_schema_read',
        file,
        file_sha256: sha256,
        answer,
        ...(reason === undefined ? {} : { reason }),
      }),
    onError: (error) => log.error('tools_folder', { error }),
  });
}

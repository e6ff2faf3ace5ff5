import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProgramRunner } from '@sallyport/sandbox';
import type { AnyTool } from '../../call/tool.ts';
import { AcceptedDefinitions } from '../accepted-definitions.ts';
import { DescriptionCache } from '../description-cache.ts';
import type { SchemaRun } from '../executables.ts';
import { FolderWatch } from '../folder-watch.ts';
import { InstalledTools } from '../installed-tools.ts';
import type { InstalledToolsOptions } from '../installed-tools.ts';
import type { Registry } from '../../registry/registry.ts';
import { ToolStore } from '../tool-store.ts';
import type { SubmitStep } from '../../pipelines/submit-step.ts';
import { ConfiguredSource } from './configured-source.ts';
import { executableSource } from './executable-source.ts';
import { inspectProgramIn } from './inspect-program.ts';
import { programTools } from './program-tools.ts';

export interface OpenToolsOptions extends Pick<InstalledToolsOptions, 'pins' | 'acceptsNew' | 'recordEvent'> {
  readonly registry: Registry;
  readonly programs: ProgramRunner;
  /** The folder for everything about tools, with the YAML files of configured tools. */
  readonly folder: string;
  /** The folder of programs. Absent: `bin` in the folder. */
  readonly binFolder?: string;
  /** Where accepted programs run from; the user of the sandbox must be able to enter it. Absent: `store` in the folder. */
  readonly storeFolder?: string;
  /** Where the gate keeps what it remembers about them. Absent: the folder. */
  readonly stateFolder?: string;
  /** The package for programs in Node. Absent: none. */
  readonly sdk?: string;
  readonly recordSchemaRun: (run: SchemaRun) => void;
  /** How pipelines call their steps. Nothing else that is installed can call a tool. */
  readonly submitStep: SubmitStep;
  /** Looking at the folders failed. It is tried again. */
  readonly onError: (error: unknown) => void;
}

export interface OpenedTools {
  readonly installed: InstalledTools;
  /** For operators. To be registered before `start`, so that no program can take their names. */
  readonly administration: readonly AnyTool[];
  /** Takes the first look, and goes on watching. Resolves after the first look; never rejects. */
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the tools folder: its tools, who accepted them, and the tools for operators. */
export async function openInstalledTools(options: OpenToolsOptions): Promise<OpenedTools> {
  const { registry, pins, programs, folder, recordSchemaRun, onError } = options;
  const { binFolder = join(folder, 'bin'), stateFolder = folder, storeFolder = join(stateFolder, 'store') } = options;
  const store = await ToolStore.open(storeFolder);
  const cache = await DescriptionCache.open(join(stateFolder, 'cache'));
  const accepted = new AcceptedDefinitions(join(stateFolder, 'accepted'));
  const configured = new ConfiguredSource(folder, {
    find: (name) => registry.find(name)?.tool.definition,
    submitStep: options.submitStep,
  });
  const drafts = join(stateFolder, 'drafts');
  await rm(drafts, { recursive: true, force: true });
  const programSource = {
    store,
    cache,
    programs,
    recordSchemaRun,
    assignedTo: configured.assignedTo,
    ...(options.sdk === undefined ? {} : { sdk: options.sdk }),
  };
  const executables = executableSource({ ...programSource, folder: binFolder });
  // Configuration comes first: it says what to make of the programs.
  const installed = new InstalledTools({ ...options, accepted, sources: [configured, executables] });
  const look = async (): Promise<boolean> => {
    await installed.refresh();
    return installed.isUnsettled;
  };
  let watch: FolderWatch | undefined;
  let isClosed = false;
  // A pipeline counts as the worst of its steps, so it is looked at again when their tools come, go or change.
  const stopListening = registry.onChange(() => {
    if (configured.hasPipelines && !isClosed) installed.refresh().catch(onError);
  });
  return {
    installed,
    administration: programTools({
      installed,
      accepted,
      folder: binFolder,
      inspect: inspectProgramIn(drafts, programSource),
      isDefault: ({ definition: { name, version } }) => registry.find(name)?.tool.definition.version === version,
    }),
    start: async () => {
      try {
        await look();
        const kept = [...pins.listToolPins(), ...installed.all.flatMap(({ offer }) => offer ?? [])];
        await store.collect(new Set(kept.map(({ fileSha256 }) => fileSha256)));
      } catch (error) {
        onError(error);
      }
      if (!isClosed) watch = new FolderWatch({ folders: [folder, binFolder], look, onError });
    },
    close: async () => {
      isClosed = true;
      stopListening();
      watch?.close();
      await installed.close();
    },
  };
}

import { programTool, refuseMissing } from '../run/program-tool.ts';
import { defineForeignTool, detailOf } from '../../registry/define-foreign-tool.ts';
import type { AssignedProperties } from '../../registry/define-foreign-tool.ts';
import { Executables } from '../executables.ts';
import type { Executable, ExecutablesOptions } from '../executables.ts';
import { hashDefinition } from '../../registry/hash-definition.ts';
import { describeRequests } from '../../registry/tool-requests.ts';
import { placeProgram } from '../place-program.ts';
import type { ToolOffer, ToolSource } from '../tool-offer.ts';

export interface ExecutableSourceOptions extends ExecutablesOptions {
  /** What an operator says about a tool of this name. Absent: nothing. */
  readonly assignedTo?: (name: string) => AssignedProperties | undefined;
}

/** The programs of the tools folder, each as a tool that runs its copy in the store. */
export function executableSource(options: ExecutableSourceOptions): ToolSource {
  const executables = new Executables(options);
  return {
    list: async (signal) => {
      const { executables: found, ...rest } = await executables.scan(signal);
      return { ...rest, offers: found.map((executable) => offerExecutable(executable, options)) };
    },
  };
}

function offerExecutable(executable: Executable, options: ExecutableSourceOptions): ToolOffer {
  const { file, stored, description, trouble } = executable;
  const { store, sdk, assignedTo } = options;
  const assigned = assignedTo?.(description.name);
  const definition = defineForeignTool(description, 'executable', {
    isSchemaKnown: trouble === undefined,
    ...(assigned === undefined ? {} : { assigned }),
  });
  const openProgram = async () => {
    if (await store.verify(stored)) return placeProgram(store, stored, sdk === undefined ? {} : { sdk });
    throw refuseMissing(definition.name, 'the stored copy of its file is gone or damaged');
  };
  return {
    origin: 'executable',
    file,
    tool: programTool({ definition, openProgram, isWarm: description.requests.warm }),
    fileSha256: stored.sha256,
    definitionSha256: hashDefinition(definition, describeRequests(description.requests)),
    detail: { ...detailOf(description), file, sha256: stored.sha256 },
    ...(trouble === undefined ? {} : { trouble }),
  };
}

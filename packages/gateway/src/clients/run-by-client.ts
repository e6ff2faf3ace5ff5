import { isJsonObject } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { checkShown } from '../call/check-shown.ts';
import { Fault } from '../call/fault.ts';
import { keepBeforeEdits, noteAfterEdits } from './journal-edits.ts';
import { withAlias } from '../policy/patterns/canonical-path.ts';
import { changeContext, ToolFailure } from '../call/tool.ts';
import type { AnyTool, Resources, ToolContext, ToolDefinition } from '../call/tool.ts';

const anything: JsonObject = { type: 'object' };
/** Commands of agents may take long, and people are asked in between. */
const longestMs = 3_600_000;

/** What is special about a tool when a client runs it. */
export type ClientForm = Partial<Pick<AnyTool, 'claim' | 'preview'>> &
  Partial<Pick<ToolDefinition, 'inputSchema' | 'category' | 'description'>> & {
    /** Looks at what only the machine can tell, before anybody is asked and before the client goes on. Throws ToolRefused. */
    readonly check?: (args: JsonObject, context: ToolContext) => Promise<void>;
    /** Runs it in our sandbox, where the rules want that. Absent: this tool has no such form. */
    readonly runInSandbox?: AnyTool['run'];
  };

/**
 * A tool as clients run it by themselves: the same name, so that the same rules speak about it, and the same effect to
 * look at. It has no sandbox of ours, and says so by its origin.
 */
export function runByClient(tool: AnyTool, form: ClientForm = {}): AnyTool {
  const { claim = tool.claim, preview = tool.preview, check, runInSandbox, ...more } = form;
  const definition: ToolDefinition = {
    ...tool.definition,
    ...more,
    origin: 'client',
    outputSchema: anything,
    requiresSandbox: false,
    timeoutMs: longestMs,
    // Whether it ran is known from the client alone, so nothing is tried a second time.
    idempotent: false,
  };
  return {
    definition,
    claim: (args, session) => addRealPaths(claim(args, session)),
    preview: async (args, context) => {
      await check?.(args, context);
      return preview(args, context);
    },
    run: async (args, context) => {
      const { clientRun } = context;
      if (clientRun === undefined) throw new Fault('INTERNAL', `${definition.name} has no client to run it`);
      if (context.shownBasis !== undefined) {
        checkShown((await preview(args, context)).basis ?? '', definition.name, context);
      }
      await check?.(args, context);
      if (context.rewrite === true) {
        if (runInSandbox === undefined) throw new Fault('INTERNAL', `${definition.name} has no form for the sandbox`);
        const { signal } = await clientRun.awaitExec(context.signal);
        return runInSandbox(args, changeContext(context, { signal: AbortSignal.any([context.signal, signal]) }));
      }
      const { paths, commands } = claim(args, context.session);
      const edited = paths.filter(({ access }) => access === 'write').map(({ path }) => path);
      // Nobody knows all that a command changes.
      const changes = commands === undefined ? await keepBeforeEdits(edited, context) : [];
      context.noteEffect();
      clientRun.release();
      const { isError, output } = await clientRun.awaitOutcome(context.signal);
      await noteAfterEdits(changes, context);
      if (isError) throw new ToolFailure('EXECUTION_ERROR', `${clientRun.client} says that it failed.`);
      return output;
    },
    summarize: (args, output) =>
      isJsonObject(output) && 'exit_code' in output ? tool.summarize(args, output) : 'ran by the client',
  };
}

/** Our own tools judge what they have opened. Here the client opens it, so what a link leads to is judged beforehand. */
function addRealPaths(resources: Resources): Resources {
  const paths = resources.paths.flatMap(({ path, access }) => withAlias(path).map((each) => ({ path: each, access })));
  return { ...resources, paths };
}

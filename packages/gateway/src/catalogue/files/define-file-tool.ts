import type { Json, JsonObject } from '@sallyport/contract';
import type { ValueOf } from '../../registry/schemas/schema.ts';
import { defineTool } from '../define-tool.ts';
import type { CatalogueTool } from '../define-tool.ts';
import { checkSignal } from './check-signal.ts';
import { failureFrom } from './failure-from.ts';

/** What one file tool says about itself; the rest is the same for all of them. */
export interface FileTool<Input extends JsonObject, Output extends Json> extends Omit<
  CatalogueTool<Input, Output>,
  'tags'
> {
  readonly name: `files.${string}` | 'git.undo';
  /** The path that messages are about, as the caller wrote it. */
  readonly subject: (args: ValueOf<Input>) => string;
}

export function defineFileTool<const Input extends JsonObject, Output extends Json>(tool: FileTool<Input, Output>) {
  const { subject, preview, run, ...about } = tool;
  return defineTool<Input, Output>({
    tags: ['files'],
    scopes: ['paths'],
    pathArguments: ['path'],
    ...about,
    preview: (args, context) => reportFailures(subject(args), () => preview(args, context)),
    run: (args, context) =>
      reportFailures(subject(args), () => {
        if (about.mutates === true) checkSignal(context.signal);
        return run(args, context);
      }),
  });
}

/** For what is moved to or from the content store: a gigabyte on a slow disk. */
export const largeTransferMs = 300_000;

function reportFailures<T>(given: string, action: () => T | Promise<T>): T | Promise<T> {
  const report = (error: unknown): never => {
    throw failureFrom(error, given);
  };
  try {
    const done = action();
    return done instanceof Promise ? done.catch(report) : done;
  } catch (error) {
    return report(error);
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { makeVisibleLine } from '@sallyport/contract';
import { defaultProgramLimits } from '@sallyport/sandbox';
import type { Program, ProgramEnd, ProgramLimits } from '@sallyport/sandbox';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { defineTool } from '../define-tool.ts';
import { findApplication } from './desktop-entries.ts';
import type { Application } from './desktop-entries.ts';
import { busVariables, displayVariables } from './desktop-session.ts';
import type { DesktopEnvironment } from './desktop-session.ts';
import { displayProgram } from './display-program.ts';
import { failureOfProgram, mostHeard } from './failure-of-program.ts';
import * as schema from '../../registry/schemas/schema.ts';

const mostOpen = 16;
/** An application that lives so long has started. */
const startsWithinMs = 1500;
const hour = 3_600_000;
/** People use an application for hours; what it prints is for nobody. */
const limits: ProgramLimits = {
  ...defaultProgramLimits,
  ...{ cpuMs: 12 * hour, memoryBytes: 4 * 1024 ** 3, processes: 1024, openFiles: 4096, outputBytes: 1024 ** 4 },
};

/** `lists`: where applications are described. Absent: where the machine keeps them. */
export function appsOpen(environment: DesktopEnvironment, lists?: readonly string[]): AnyTool {
  const open = new Set<Promise<unknown>>();
  return defineTool({
    name: 'apps.open',
    aliases: ['apps_open', 'open_app'],
    description:
      'Open an application on the desktop of the person, without any file. It stays open after the call, until it is closed or the gate ends.',
    tags: ['desktop'],
    risk: 'high',
    mutates: true,
    scopes: ['apps'],
    requiresSandbox: true,
    timeoutMs: 15_000,
    examples: [{ app: 'org.gnome.Calculator' }],
    inputSchema: schema.object({
      app: schema.string('The name of the application: that of its .desktop file, without the ending.', {
        minLength: 1,
        maxLength: 128,
        pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]*$',
      }),
    }),
    outputSchema: schema.object({ app: schema.string('The title of the application.') }),
    claim: ({ app }) => ({ paths: [], apps: [app] }),
    preview: ({ app }, { grants }) => {
      const { title, argv } = findApplication(app, lists);
      displayVariables(environment);
      const where =
        grants.isolation === 'none' ? 'WITHOUT a sandbox: it can do whatever the daemon can' : 'in a sandbox';
      const detail = [`runs: ${argv.join(' ')}`, where].map((line) => `${makeVisibleLine(line)}\n`).join('');
      return { summary: makeVisibleLine(`Open ${title} (${app}).`), detail, undoable: false };
    },
    run: async ({ app }, context) => {
      const application = findApplication(app, lists);
      if (open.size >= mostOpen) throw new ToolFailure('EXECUTION_ERROR', `${mostOpen} applications are open already.`);
      const started = startApplication(programFor(application, context, environment), context);
      const ended = started.ended.finally(() => open.delete(ended));
      open.add(ended.catch(() => undefined));
      context.noteEffect();
      const end = await Promise.race([ended, pause(startsWithinMs, undefined, { signal: context.signal })]);
      if (end === undefined || (end.how.kind === 'exited' && end.how.code === 0)) return { app: application.title };
      throw failureOfProgram(`${app} ended at once`, started.said(), context);
    },
    summarize: (_, { app }) => `${app} opened`,
  });
}

interface StartedApplication {
  readonly ended: Promise<ProgramEnd>;
  /** The end of what it wrote to standard error. */
  readonly said: () => string;
}

/** Not with the signal of the call, which it outlives; it ends with the spawner. */
function startApplication(program: Program, { programs }: Pick<ToolContext, 'programs'>): StartedApplication {
  let said = '';
  const ended = programs.run(program, {
    signal: new AbortController().signal,
    onStdout: () => undefined,
    onStderr: (chunk) => void (said = `${said}${Buffer.from(chunk).toString()}`.slice(-mostHeard)),
  });
  return { ended, said: () => said };
}

/** Only a rule can let it out of the sandbox. */
function programFor({ argv }: Application, { grants }: ToolContext, environment: DesktopEnvironment): Program {
  const confined = displayProgram({ argv, limits: { ...limits, ...grants.limits } }, environment);
  if (grants.isolation === 'sandbox') return confined;
  const { unixSockets: _, ...plain } = confined;
  const own = { ...busIfAny(environment), ...displayVariables(environment) };
  return { ...plain, environment: own, mounts: [], isolation: 'none' };
}

function busIfAny(environment: DesktopEnvironment): Record<string, string> {
  try {
    return busVariables(environment);
  } catch {
    return {};
  }
}

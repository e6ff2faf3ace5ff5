import { makeVisible, makeVisibleLine } from '@sallyport/contract';
import { defaultProgramLimits } from '@sallyport/sandbox';
import type { Program } from '@sallyport/sandbox';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { plainForDesktop } from '../../approvals/notifications/desktop-notice.ts';
import { runProgram } from '../../programs/run/run-program.ts';
import { defineTool } from '../define-tool.ts';
import { busVariables, requireProgram } from './desktop-session.ts';
import type { DesktopEnvironment } from './desktop-session.ts';
import { failureOfProgram, hasSucceeded } from './failure-of-program.ts';
import * as schema from '../../registry/schemas/schema.ts';

export function notifySend(environment: DesktopEnvironment): AnyTool {
  const program = (): string => requireProgram('/usr/bin/notify-send', 'libnotify-bin');
  return defineTool({
    name: 'notify.send',
    aliases: ['notify_send', 'send_notification'],
    description: 'Show a notification on the desktop of the person. It begins with your name.',
    tags: ['desktop'],
    risk: 'low',
    mutates: true,
    scopes: ['apps'],
    timeoutMs: 10_000,
    examples: [{ title: 'Tests pass', text: 'All 214 of them, in 40 seconds.' }],
    inputSchema: schema.object({
      title: schema.string('One line.', { minLength: 1, maxLength: 200 }),
      text: schema.string('The rest, as plain text.', { maxLength: 2000, default: '' }),
    }),
    outputSchema: schema.object({ shown: schema.boolean('The desktop took it.') }),
    claim: () => ({ paths: [], apps: ['notifications'] }),
    preview: ({ title, text }, context) => {
      busVariables(environment);
      return {
        summary: `Show the notice ${titleOf(title, context)}`,
        detail: `${makeVisible(text)}\nruns: ${program()}, without a sandbox\n`,
        undoable: false,
      };
    },
    run: async ({ title, text }, context) => {
      const plain = plainForDesktop(makeVisible(context.redact(text)));
      const words = ['--app-name=Sallyport agent', '--urgency=normal', '--', titleOf(title, context), plain];
      context.noteEffect();
      const notice = noticeProgram([program(), ...words], environment);
      const output = await runProgram(notice, context, { inlineBytes: 16 * 1024, isLooking: true });
      if (hasSucceeded(output)) return { shown: true };
      throw failureOfProgram('The desktop did not accept the notification', output.stderr.bytes.toString(), context);
    },
    summarize: ({ text }) => `a notification of ${text.length} characters`,
  });
}

/** Whose it is comes first, so that no agent passes for the gate or for another one. */
function titleOf(title: string, { session, redact }: Pick<ToolContext, 'session' | 'redact'>): string {
  return `${session.agent}: ${makeVisibleLine(redact(title))}`;
}

/**
 * The bus accepts only the user of the desktop, and programs in the sandbox run as another. So this one runs outside,
 * as the gate's own notifications do. A caller chooses only the two words after `--`.
 */
function noticeProgram(argv: readonly [string, ...string[]], environment: DesktopEnvironment): Program {
  return {
    ...{ argv, stdin: new Uint8Array(), workingDirectory: '/', mounts: [], hosts: [] },
    environment: busVariables(environment),
    limits: defaultProgramLimits,
    isolation: 'none',
  };
}

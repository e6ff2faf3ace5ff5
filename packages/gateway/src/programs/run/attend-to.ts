import { ownText, quoteText, say } from '../../call/redacted.ts';
import type { Redacted, RedactText } from '../../call/redacted.ts';
import type { ToolContext } from '../../call/tool.ts';
import type { ProgramView } from './mounts-for.ts';
import type { Withheld } from '../leavings/set-aside-forbidden.ts';

const mostNamed = 10;

/** Runs programs that see the view, and sets aside what they must not leave behind, however they end. */
export async function attendTo<Value>(
  view: Pick<ProgramView, 'attend'>,
  context: Pick<ToolContext, 'callId' | 'redact' | 'warn'>,
  run: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly withheld: Withheld }> {
  const attendance = await view.attend(context.callId.slice(-12));
  const [end] = await Promise.allSettled([run()]);
  const withheld = await attendance.finish();
  for (const warning of describeWithheld(withheld, context.redact)) context.warn(warning);
  if (end.status === 'rejected') throw end.reason;
  return { value: end.value, withheld };
}

/** What people should know of it, in sentences. */
export function describeWithheld({ paths, count, stuck }: Withheld, redact: RedactText): readonly Redacted[] {
  const name = (all: readonly string[], total: number): Redacted => {
    const named = all.slice(0, mostNamed).map((path) => quoteText(redact(path)));
    const [first = ownText(''), ...others] = named;
    const list = others.reduce((text, next) => say`${text}, ${next}`, first);
    return total > named.length ? say`${list} and ${total - named.length} more` : list;
  };
  const what = ownText('Files that other programs would run or obey without being asked');
  return [
    ...(count === 0 ? [] : [say`${what} were set aside: ${name(paths, count)}.`]),
    ...(stuck.length === 0 ? [] : [say`${what} could not be set aside: ${name(stuck, stuck.length)}.`]),
  ];
}

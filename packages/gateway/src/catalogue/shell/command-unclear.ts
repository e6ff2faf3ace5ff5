import { refuse } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';

/** For what cannot be judged because nobody can tell what it would run. `at`: the index where it stands. */
export function commandUnclear(what: string, at: number, remedy?: string): ToolRefused {
  return new ToolRefused(
    refuse('COMMAND_UNCLEAR', 'command-syntax', `The command holds ${what}, at character ${at + 1}.`, {
      remedy: remedy ?? 'Give the words of one program as argv, or put single quotes around what is meant literally.',
    }),
  );
}

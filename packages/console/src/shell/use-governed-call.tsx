import { useCallback, useState } from 'react';
import type { ReactNode } from 'react';
import { callTool, ConfirmationNeeded } from '../daemon/call-tool.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { troubleOf } from './parts.tsx';
import type { Trouble } from './parts.tsx';

interface Question {
  readonly name: string;
  readonly input: object;
  readonly needed: ConfirmationNeeded;
  readonly answer: (isDone: boolean) => void;
}

export interface GovernedCall {
  /** Resolves when it is over: true when it was done. Problems are in `trouble`. */
  readonly run: (name: string, input: object) => Promise<boolean>;
  readonly trouble: Trouble | undefined;
  /** Asks for confirmation where the rules want one. */
  readonly dialog: ReactNode;
}

/** A call by the person of this console. */
export function useGovernedCall(): GovernedCall {
  const [question, setQuestion] = useState<Question>();
  const [trouble, setTrouble] = useState<Trouble>();

  const run = useCallback(async (name: string, input: object, binding = ''): Promise<boolean> => {
    setTrouble(undefined);
    try {
      await callTool(name, input, binding);
      return true;
    } catch (error) {
      if (error instanceof ConfirmationNeeded) {
        return new Promise<boolean>((answer) => setQuestion({ name, input, needed: error, answer }));
      }
      setTrouble(troubleOf(error));
      return false;
    }
  }, []);

  const close = (isConfirmed: boolean): void => {
    if (question === undefined) return;
    const { name, input, needed, answer } = question;
    setQuestion(undefined);
    if (isConfirmed) void run(name, input, needed.binding).then(answer);
    else answer(false);
  };

  const dialog = question && (
    <ConfirmDialog title={question.needed.message} effect={question.needed.effect} onClose={close} />
  );
  return { run, trouble, dialog };
}

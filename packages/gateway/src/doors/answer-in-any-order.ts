/** More calls than these are not begun in one turn of the event loop: whoever sends many at once holds up nobody. */
const mostInTurn = 16;

/**
 * Answers a stream of requests side by side: each answer goes out when it is ready, with those that became ready at the
 * same time. At most `mostOpen` requests are begun and not yet taken as answers, so a caller who does not take answers
 * cannot send more either. When the requests end in an error, the answers to those before it still go out. `answer` must
 * not reject; undefined means that this request wants no answer.
 */
export async function* answerInAnyOrder<Request, Answer>(
  requests: AsyncIterable<readonly Request[]>,
  mostOpen: number,
  answer: (request: Request) => Promise<Answer> | undefined,
): AsyncGenerator<readonly Answer[], void, undefined> {
  const source = requests[Symbol.asyncIterator]();
  let read: readonly Request[] = [];
  /** How many of those. */
  let begun = 0;
  let ready: Answer[] = [];
  let open = 0;
  let isReading = false;
  let isResting = false;
  let hasEnded = false;
  let failure: Error | undefined;
  let wake = (): void => undefined;

  const begin = async (request: Request): Promise<void> => {
    const answering = answer(request);
    if (answering === undefined) return;
    open++;
    const answered = await answering;
    // Not before the wait: what was ready then may have gone out since.
    ready.push(answered);
    wake();
  };
  const beginSome = (): void => {
    for (let inTurn = 0; begun < read.length && open < mostOpen; inTurn++) {
      if (inTurn === mostInTurn) return rest();
      void begin(read[begun++] as Request);
    }
  };
  const rest = (): void => {
    isResting = true;
    setImmediate(() => {
      isResting = false;
      wake();
    });
  };
  const readNext = async (): Promise<void> => {
    isReading = true;
    try {
      const next = await source.next();
      if (next.done === true) hasEnded = true;
      else [read, begun] = [next.value, 0];
    } catch (error) {
      hasEnded = true;
      failure = error as Error;
    }
    isReading = false;
    wake();
  };

  try {
    for (;;) {
      if (!isResting) beginSome();
      const isAllBegun = begun === read.length;
      if (isAllBegun && !hasEnded && !isReading && open < mostOpen) void readNext();
      if (ready.length > 0) {
        const answered = ready;
        ready = [];
        yield answered;
        open -= answered.length;
      } else if (hasEnded && isAllBegun && open === 0) {
        break;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
  } finally {
    await source.return?.();
  }
  if (failure !== undefined) throw failure;
}

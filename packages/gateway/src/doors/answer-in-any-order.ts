/**
 * Answers a stream of requests side by side: each answer goes out when it is ready. At most `mostOpen` requests are
 * read and not yet taken as answers, so a caller who does not take answers cannot send more either. When the requests
 * end in an error, the answers to those before it still go out. `answer` must not reject; undefined means that this
 * request wants no answer.
 */
export async function* answerInAnyOrder<Request, Answer>(
  requests: AsyncIterable<Request>,
  mostOpen: number,
  answer: (request: Request) => Promise<Answer> | undefined,
): AsyncGenerator<Answer, void, undefined> {
  const source = requests[Symbol.asyncIterator]();
  const ready: Answer[] = [];
  let open = 0;
  let isReading = false;
  let hasEnded = false;
  let failure: Error | undefined;
  let wake = (): void => undefined;

  const begin = async (request: Request): Promise<void> => {
    const answering = answer(request);
    if (answering === undefined) return;
    open++;
    ready.push(await answering);
    wake();
  };
  const readNext = async (): Promise<void> => {
    isReading = true;
    try {
      const next = await source.next();
      if (next.done === true) hasEnded = true;
      else void begin(next.value);
    } catch (error) {
      hasEnded = true;
      failure = error as Error;
    }
    isReading = false;
    wake();
  };

  try {
    for (;;) {
      if (!hasEnded && !isReading && open < mostOpen) void readNext();
      const answered = ready.shift();
      if (answered !== undefined) {
        yield answered;
        open--;
      } else if (hasEnded && open === 0) {
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

/** What the action returns, or undefined if it throws, whatever it throws. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

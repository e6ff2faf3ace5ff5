/** As `Promise.withResolvers`, which Node 20 does not have. */
export function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve!: PromiseWithResolvers<Value>['resolve'];
  let reject!: PromiseWithResolvers<Value>['reject'];
  const promise = new Promise<Value>((whenDone, whenFailed) => {
    resolve = whenDone;
    reject = whenFailed;
  });
  return { promise, resolve, reject };
}

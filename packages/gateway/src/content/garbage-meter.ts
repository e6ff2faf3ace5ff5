import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
const everyBytes = 8 * 1024 * 1024;

/**
 * Bytes that pass through leave garbage outside V8's heap, of which V8 lets 64 MB pile up before it looks. A look at
 * the young generation costs a millisecond, and after each 8 MB it keeps a transfer of any size within a few of them.
 */
export class GarbageMeter {
  #bytes = 0;

  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < everyBytes) return;
    this.#bytes = 0;
    collect({ type: 'minor' });
  }
}

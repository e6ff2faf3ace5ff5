import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
const everyBytes = 8 * 1024 * 1024;

/**
 * Bytes that pass through leave garbage outside V8's heap, and V8 lets 64 MB pile up before it collects. Collecting the
 * young generation takes a millisecond; done after each 8 MB, it keeps the memory of any transfer small.
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

import type { JsonObject } from '@sallyport/contract';
import type { InstalledToolsOptions } from '../../programs/installed-tools.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Store } from '../../storage/stores.ts';

interface RecorderParts {
  readonly store: Pick<Store, 'append'>;
  readonly redactor: Redactor;
  readonly onError: (error: unknown) => void;
}

/** Puts what happens to tools on record. Nobody waits for it. */
export function recordToolEvents({ store, redactor, onError }: RecorderParts) {
  const record = (event: JsonObject): void => {
    const payload = redactor.redactEvent(event);
    store.append({ kind: 'event', result: 'none', timeMs: Date.now(), payload }).catch(onError);
  };
  const recordEvent: InstalledToolsOptions['recordEvent'] = ({ event, name, version, fileSha256, by }) =>
    record({ event, tool: name, version, file_sha256: fileSha256, ...(by === undefined ? {} : { by }) });
  return { record, recordEvent };
}

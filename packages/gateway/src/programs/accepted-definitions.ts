import { mkdirSync, readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@sallyport/contract';
import { isJsonObject, parseStrictJson } from '@sallyport/contract';
import type { ToolPin } from '../storage/stores.ts';
import type { ToolOffer } from './tool-offer.ts';

/** What a person saw and accepted, kept to show what has changed since. */
export interface AcceptedTool {
  readonly origin: ToolOffer['origin'];
  /** Where it lay. */
  readonly file: string;
  readonly detail: JsonObject;
}

const format = 1;

/** Descriptions of accepted tools, by their pins. Only for people: what may run is decided by the pins alone. */
export class AcceptedDefinitions {
  readonly #folder: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
  }

  /** Best effort: without it there is no difference to show. */
  async keep(pin: ToolPin, { origin, file, detail }: AcceptedTool): Promise<void> {
    const draft = join(this.#folder, `.${randomUUID()}`);
    try {
      await writeFile(draft, JSON.stringify({ format, origin, file, detail }), { mode: 0o600, flag: 'wx' });
      await rename(draft, this.#fileOf(pin));
    } catch {
      await rm(draft, { force: true }).catch(() => undefined);
    }
  }

  /** Undefined: it was accepted elsewhere, or the file is gone. */
  read(pin: Pick<ToolPin, 'fileSha256' | 'definitionSha256'>): AcceptedTool | undefined {
    try {
      const kept = parseStrictJson(readFileSync(this.#fileOf(pin), 'utf8'));
      if (!isJsonObject(kept) || kept['format'] !== format) return undefined;
      const { origin, file, detail } = kept;
      if (!isOrigin(origin) || typeof file !== 'string') return undefined;
      return isJsonObject(detail) ? { origin, file, detail } : undefined;
    } catch {
      return undefined;
    }
  }

  #fileOf({ fileSha256, definitionSha256 }: Pick<ToolPin, 'fileSha256' | 'definitionSha256'>): string {
    return join(this.#folder, `${fileSha256.slice(0, 32)}-${definitionSha256.slice(0, 32)}.json`);
  }
}

function isOrigin(origin: unknown): origin is ToolOffer['origin'] {
  return origin === 'executable' || origin === 'configured' || origin === 'pipeline' || origin === 'upstream';
}

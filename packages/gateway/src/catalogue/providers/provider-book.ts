import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import { noProviders, providersFile, readProviderSettings } from './provider-settings.ts';
import type { ProviderSettings } from './provider-settings.ts';

/**
 * The providers as their file says now: it is looked at for each use, so that a change counts at once. A file that cannot
 * be used sets up nobody, and the book says what is wrong with it.
 */
export class ProviderBook {
  readonly #findFolder: () => string;
  #seen = '';
  #settings = noProviders;
  #problem: string | undefined;

  constructor(findFolder: () => string) {
    this.#findFolder = findFolder;
  }

  get current(): ProviderSettings {
    this.#look();
    return this.#settings;
  }

  /** What is wrong with the file as it is now. Undefined: nothing. */
  get problem(): string | undefined {
    this.#look();
    return this.#problem;
  }

  #look(): void {
    const folder = this.#findFolder();
    const stats = statSync(join(folder, providersFile), { throwIfNoEntry: false, bigint: true });
    const seen = `${folder} ${stats?.ino} ${stats?.size} ${stats?.mtimeNs} ${stats?.ctimeNs}`;
    if (seen === this.#seen) return;
    this.#seen = seen;
    try {
      this.#settings = readProviderSettings(folder);
      this.#problem = undefined;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#settings = noProviders;
      this.#problem = error.message;
    }
  }
}

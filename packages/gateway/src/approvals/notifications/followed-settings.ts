import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../call/fault.ts';
import { noNotifications, readNotificationSettings } from './notification-settings.ts';
import type { NotificationSettings } from './notification-settings.ts';

const lookEveryMs = 1000;

export interface FollowedSettingsParts {
  /** Where the file is now. */
  readonly findFolder: () => string;
  /** Where an operator's own file is, or will be. */
  readonly ownFolder: string;
  /** Called when the settings have changed. */
  readonly onChange: (settings: NotificationSettings) => void;
  /** Called for each change that cannot be used. The settings before it stay in force. */
  readonly onProblem: (problem: string) => void;
}

/**
 * notifications.yaml as it is now. Whom to tell decides nothing, so a change counts at once, without an operator having to
 * apply it; one that cannot be used changes nothing, and is said to be wrong until it is mended.
 */
export class FollowedSettings {
  readonly #parts: FollowedSettingsParts;
  readonly #files: readonly string[];
  readonly #look = (): void => this.look();
  #current: NotificationSettings = noNotifications;
  #problem: string | undefined;

  /** A file that cannot be used holds up no start: nobody is told anything until it is mended. */
  constructor(parts: FollowedSettingsParts) {
    this.#parts = parts;
    const folders = new Set([parts.findFolder(), parts.ownFolder]);
    this.#files = [...folders].map((folder) => join(folder, 'notifications.yaml'));
    this.#read();
    // We poll: editors replace the file, and a watch on the old file would not notice the new one.
    for (const file of this.#files) watchFile(file, { interval: lookEveryMs, persistent: false }, this.#look);
  }

  get current(): NotificationSettings {
    return this.#current;
  }

  /** What is wrong with the file as it is now. Undefined: nothing. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Reads the file now. */
  look(): void {
    const before = this.#current;
    this.#read();
    if (this.#current !== before) this.#parts.onChange(this.#current);
  }

  #read(): void {
    const { findFolder, onProblem } = this.#parts;
    try {
      const settings = readNotificationSettings(findFolder());
      this.#problem = undefined;
      if (JSON.stringify(settings) !== JSON.stringify(this.#current)) this.#current = settings;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (error.message === this.#problem) return;
      this.#problem = error.message;
      onProblem(error.message);
    }
  }

  close(): void {
    for (const file of this.#files) unwatchFile(file, this.#look);
  }
}

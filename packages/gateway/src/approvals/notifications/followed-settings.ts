import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../model/fault.ts';
import { readNotificationSettings } from './notification-settings.ts';
import type { NotificationSettings } from './notification-settings.ts';

const lookEveryMs = 1000;

export interface FollowedSettingsParts {
  readonly folder: string;
  /** Hears of other settings than before. */
  readonly onChange: (settings: NotificationSettings) => void;
  /** Hears of each change that cannot be used. The settings before it stay in force. */
  readonly onProblem: (problem: string) => void;
}

/**
 * notifications.yaml as it is now. Whom to tell decides nothing, so a change counts at once, without an operator having to
 * apply it; one that cannot be used changes nothing, and is said to be wrong until it is mended.
 */
export class FollowedSettings {
  readonly #parts: FollowedSettingsParts;
  readonly #file: string;
  readonly #look = (): void => this.look();
  #current: NotificationSettings;
  #problem: string | undefined;

  /** Throws ConfigError when the file cannot be used: at the start somebody is there to read it. */
  constructor(parts: FollowedSettingsParts) {
    this.#parts = parts;
    this.#file = join(parts.folder, 'notifications.yaml');
    this.#current = readNotificationSettings(parts.folder);
    // Asked for, not told of: an editor puts another file in its place, which a watch of the old one would not see.
    watchFile(this.#file, { interval: lookEveryMs, persistent: false }, this.#look);
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
    const { folder, onChange, onProblem } = this.#parts;
    try {
      const settings = readNotificationSettings(folder);
      this.#problem = undefined;
      if (JSON.stringify(settings) === JSON.stringify(this.#current)) return;
      this.#current = settings;
      onChange(settings);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (error.message === this.#problem) return;
      this.#problem = error.message;
      onProblem(error.message);
    }
  }

  close(): void {
    unwatchFile(this.#file, this.#look);
  }
}

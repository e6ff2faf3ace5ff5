import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

const needed = {
  '/usr/bin/Xvfb': 'xvfb',
  '/usr/bin/xclip': 'xclip',
  '/usr/bin/xmessage': 'x11-utils',
  '/usr/bin/notify-send': 'libnotify-bin',
  '/usr/bin/dunst': 'dunst',
  '/usr/bin/dbus-daemon': 'dbus-daemon',
};

/** Which Debian packages a desktop for tests lacks here, as a reason to skip. False: none. */
export function explainMissingDesktop(): string | false {
  const missing = Object.entries(needed).flatMap(([file, name]) => (existsSync(file) ? [] : [name]));
  return missing.length > 0 && `install ${missing.join(', ')} with apt-get`;
}

/** A display without a screen, a message bus, and a program that shows notices: real ones, of this test alone. */
export class DesktopSession {
  readonly environment: Readonly<Record<string, string>>;
  /** What the desktop was asked to show, line by line. */
  readonly notices: string[] = [];

  private constructor(environment: Readonly<Record<string, string>>) {
    this.environment = environment;
  }

  static async open(t: TestContext): Promise<DesktopSession> {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-desktop-'));
    // Programs in the sandbox of a daemon that root started are somebody else.
    chmodSync(folder, 0o755);
    const started: ChildProcess[] = [];
    t.after(async () => {
      for (const child of started.toReversed()) {
        if (child.exitCode === null && child.signalCode === null) {
          child.kill('SIGTERM');
          await once(child, 'exit');
        }
      }
      rmSync(folder, { recursive: true, force: true });
    });
    const start = async (file: string, args: readonly string[], env: Record<string, string> = {}) => {
      const child = spawn(file, args, { env: { HOME: folder, ...env }, stdio: ['ignore', 'pipe', 'ignore'] });
      started.push(child);
      return createInterface({ input: child.stdout });
    };
    const cookie = join(folder, 'Xauthority');
    writeFileSync(cookie, makeCookie());
    const display = `:${await firstLine(await start('/usr/bin/Xvfb', ['-displayfd', '1', '-auth', cookie, '-nolisten', 'tcp', '-noreset']))}`;
    chmodSync(cookie, 0o644);
    const address = await firstLine(
      await start('/usr/bin/dbus-daemon', ['--session', '--nofork', '--print-address=1']),
    );
    const environment = { DISPLAY: display, XAUTHORITY: cookie, DBUS_SESSION_BUS_ADDRESS: address };
    const session = new DesktopSession(environment);
    const shown = await start('/usr/bin/dunst', ['-print'], environment);
    shown.on('line', (line) => session.notices.push(line));
    return session;
  }

  /** What a program on this desktop prints. */
  run(file: string, args: readonly string[], input = ''): string {
    const env = { ...this.environment, PATH: '/usr/bin' };
    return execFileSync(file, args, { env, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });
  }

  async until(isSo: () => boolean, what: string): Promise<void> {
    for (let waited = 0; waited < 400; waited++) {
      if (isSo()) return;
      await pause(50);
    }
    throw new Error(`never came true: ${what}`);
  }
}

/** An entry of an Xauthority file that holds for every host and every display. */
function makeCookie(): Buffer {
  const field = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([0, bytes.length]), bytes]);
  const anyHost = Buffer.from([0xff, 0xff]);
  const parts = [new Uint8Array(), new Uint8Array(), Buffer.from('MIT-MAGIC-COOKIE-1'), randomBytes(16)];
  return Buffer.concat([anyHost, ...parts.map(field)]);
}

async function firstLine(lines: ReturnType<typeof createInterface>): Promise<string> {
  const [line] = (await once(lines, 'line')) as [string];
  return line;
}

import { execFile } from 'node:child_process';
import type { Notice } from './notice.ts';

const patienceMs = 5000;

/** Shows a notice on the desktop of the user who runs the daemon. Without a desktop or a program, calls `onFailure`. */
export function showOnDesktop({ title, text }: Notice, onFailure: (error: Error) => void): void {
  const args = ['--app-name=Sallyport', '--urgency=critical', '--', title, plainForDesktop(text)];
  execFile('notify-send', args, { timeout: patienceMs }, (error) => {
    if (error !== null) onFailure(error);
  });
}

/** Text that a desktop shows as it is: notify-send reads escapes such as \n and \074, and some desktops read markup. */
export function plainForDesktop(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

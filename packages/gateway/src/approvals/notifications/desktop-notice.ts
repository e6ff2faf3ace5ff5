import { execFile } from 'node:child_process';
import type { Notice } from './notice.ts';

const patienceMs = 5000;

/** Shows a notice on the desktop of the user who runs the daemon. Without a desktop or a program, calls `onFailure`. */
export function showOnDesktop({ title, text }: Notice, onFailure: (error: Error) => void): void {
  // The program reads escapes such as \n and \074 in the text, and after that some desktops read markup in it.
  const plain = text.replaceAll('\\', '\\\\').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const args = ['--app-name=Sallyport', '--urgency=critical', '--', title, plain];
  execFile('notify-send', args, { timeout: patienceMs }, (error) => {
    if (error !== null) onFailure(error);
  });
}

import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * Reads what it is entrusted with until its input ends, which happens however the spawner ends. Then kills what is left
 * in the control groups and removes them with the folders. Gives up after ten seconds: a process that the kernel does
 * not let die is all that can be left.
 */
const script = `
folders=
while read -r kind path; do
  case $kind in
    groups) set -- "$@" "$path" ;;
    folder) folders="$folders$path
" ;;
  esac
done
printf %s "$folders" | while read -r path; do rm -rf -- "$path"; done
round=0
while [ $# -gt 0 ] && [ $round -lt 500 ]; do
  left=0
  for home; do
    if [ -e "$home/cgroup.kill" ]; then
      echo 1 > "$home/cgroup.kill"
    else
      for list in "$home"/*/cgroup.procs; do while read -r pid; do kill -9 "$pid"; done < "$list"; done
    fi
    for group in "$home"/*/ "$home"; do rmdir -- "$group"; done
    [ ! -e "$home" ] || left=1
  done
  [ $left = 1 ] || exit 0
  round=$((round + 1))
  sleep 0.02
done
`;

/** Cleans up when this process is gone, and holds its standard output open until that is done. */
export class Janitor {
  readonly #input: Writable | null;

  /** Start it before this process enters a control group: it must not be killed with what it kills. */
  constructor() {
    const { stdin } = spawn('/bin/sh', ['-c', script, 'sallyport-janitor'], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'inherit', 'ignore'],
      // Out of reach of signals meant for the daemon's terminal.
      detached: true,
    }).on('error', () => undefined);
    stdin?.on('error', () => undefined);
    this.#input = stdin;
  }

  /** Cleans up after spawners that have already ended. */
  static sweep(leftovers: { readonly homes: readonly string[]; readonly folders: readonly string[] }): void {
    if (leftovers.homes.length + leftovers.folders.length === 0) return;
    const janitor = new Janitor();
    janitor.entrustGroups(leftovers.homes);
    for (const folder of leftovers.folders) janitor.entrustFolder(folder);
    janitor.#input?.end();
  }

  /** Call it before making them: whatever happens then, they are removed. Paths must not contain a line break. */
  entrustGroups(homes: readonly string[]): void {
    for (const home of homes) this.#input?.write(`groups ${home}\n`);
  }

  entrustFolder(path: string): void {
    this.#input?.write(`folder ${path}\n`);
  }
}

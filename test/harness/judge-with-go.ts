import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const source = join(import.meta.dirname, '../audit/verify-with-go.go');

/** A verifier of receipts and proofs of consistency from Debian's golang.org/x/mod, which is not ours. */
export class GoJudge {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sallyport-go-'));
  readonly #program = join(this.#folder, 'judge');

  constructor() {
    const env = {
      PATH: '/usr/bin:/bin',
      HOME: this.#folder,
      GO111MODULE: 'off',
      GOPATH: '/usr/share/gocode',
      GOCACHE: join(this.#folder, 'cache'),
    };
    const { status, stderr } = spawnSync('/usr/bin/go', ['build', '-o', this.#program, source], {
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`golang-go and golang-golang-x-mod-dev are needed: ${stderr}`);
  }

  /** What is wrong. Undefined: nothing. */
  judge(file: string, witness = ''): string | undefined {
    const input = JSON.stringify({ file: JSON.parse(file) as unknown, witness });
    const { status, stdout, stderr } = spawnSync(this.#program, { input, encoding: 'utf8' });
    return status === 0 ? undefined : `${stdout}${stderr}`;
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

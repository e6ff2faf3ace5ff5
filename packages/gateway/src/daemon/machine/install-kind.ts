import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

export interface InstallKind {
  readonly kind: 'advisory' | 'separated';
  readonly meaning: string;
}

/** Accounts that people do not log in with; a daemon under one of them is apart from the agents. */
const nologin = /(?:nologin|false)$/;

/** Whether the daemon runs under a user of its own, and what that promises. */
export function readInstallKind(): InstallKind {
  const { username, uid } = findUser();
  const service = process.env['SALLYPORT_SERVICE'] ? ' It runs as a service.' : '';
  if (uid !== 0 && uid !== -1 && nologin.test(shellOf(uid))) {
    return {
      kind: 'separated',
      meaning: `The daemon runs as its own user ${username}; agents under other users cannot reach its files.${service}`,
    };
  }
  return {
    kind: 'advisory',
    meaning: `The daemon runs as ${username}. An agent that runs unsandboxed as the same user could read its files and go around it.${service}`,
  };
}

function shellOf(uid: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.split(':')[2] === String(uid));
    return line?.split(':')[6] ?? '';
  } catch {
    return '';
  }
}

/** In containers the user often has a number and no entry in /etc/passwd. */
function findUser(): { readonly username: string; readonly uid: number } {
  try {
    return userInfo();
  } catch {
    const uid = process.getuid?.() ?? -1;
    return { username: `user ${uid}`, uid };
  }
}

// `sallyport exec TICKET`: a coding agent starts it in the place of a command of its own, because a rule wants that command
// in the sandbox. It brings no command: the gate runs the one that it judged, and this passes on what that writes and how it
// ends. Like the hook, it loads nothing of the command line.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const home = resolve(process.env.SALLYPORT_HOME || join(homedir(), '.sallyport'));
const cannotRun = 126;

try {
  const ticket = process.argv[3] ?? '';
  const [, client] = /^([a-z][a-z0-9-]*)\.[\w-]+$/.exec(ticket) ?? [];
  if (client === undefined) throw new Error('sallyport exec is for coding agents, which are told to run it.');
  process.exitCode = await run(JSON.stringify({ ticket, cwd: process.cwd() }), findToken(client));
} catch (error) {
  process.stderr.write(`Sallyport: ${error.message}\n`);
  process.exitCode = cannotRun;
}

/** The session of the project in which the client works. */
function findToken(client) {
  if (process.env.SALLYPORT_TOKEN) return process.env.SALLYPORT_TOKEN;
  const { sessions } = JSON.parse(readFileSync(join(home, 'clients', `${client}.json`), 'utf8'));
  const cwd = process.cwd();
  const holds = ({ root }) => cwd === root || cwd.startsWith(root === '/' ? root : `${root}/`);
  const [nearest] = sessions.filter(holds).sort((one, other) => other.root.length - one.root.length);
  if (nearest === undefined) throw new Error(`${cwd} is in no project that is connected.`);
  return nearest.token;
}

/** Resolves to the exit code of the command. When this is killed, so is the command. */
function run(body, token) {
  return new Promise((done, fail) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const socketPath = join(home, 'run', 'agent', 'sallyport.sock');
    const sent = request({ socketPath, method: 'POST', path: '/v1/exec', headers }, (response) => {
      let held = '';
      let exitCode;
      response.setEncoding('utf8');
      response.on('data', (text) => {
        const lines = (held + text).split('\n');
        held = lines.pop() ?? '';
        for (const line of lines) exitCode = tell(JSON.parse(line)) ?? exitCode;
      });
      response.on('error', fail);
      response.on('end', () => {
        if (response.statusCode !== 200) fail(new Error(`the gate answered ${response.statusCode}.`));
        else if (exitCode === undefined) fail(new Error('the connection was lost before the command had ended.'));
        else done(exitCode);
      });
    });
    sent.on('error', (error) => {
      const isDown = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      const reason = isDown ? 'the gate does not run. Start it with `sallyport up`, then try again.' : error.message;
      fail(new Error(reason, { cause: error }));
    });
    sent.end(body);
  });
}

/** The exit code, with the last line. */
function tell({ stdout, stderr, exitCode, message }) {
  if (stdout !== undefined) process.stdout.write(stdout);
  if (stderr !== undefined) process.stderr.write(stderr);
  if (message !== undefined) process.stderr.write(`${message}\n`);
  return exitCode;
}

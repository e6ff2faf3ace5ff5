import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { exactPathPattern } from '../policy/judge/explain-denial.ts';
import { Redactor } from './redact.ts';

const key = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const token = 'q8Yk3vTzR0bNwX5mJ7cLpD2sGhF9aUeW4iQoZ1tBxVnMyKjC';
const password = 'R4w5voFMx1-kJ83h';

/** Secrets that are files, and what in them is one. */
const files = {
  'key of a service account': {
    text: JSON.stringify(
      {
        type: 'service_account',
        project_id: 'my-project',
        private_key: key,
        client_email: 'robot@my-project.iam.example.com',
        token_uri: 'https://oauth2.example.com/token',
      },
      undefined,
      2,
    ),
    secret: key.split('\n')[1] ?? '',
  },
  'access to a cluster': {
    text: `apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    certificate-authority-data: ${token}\n    server: https://cluster.example.com\n  name: prod\ncontexts:\n- context:\n    user: admin\n  name: prod\nusers:\n- name: admin\n  user:\n    token: ${token}\n`,
    secret: token,
  },
  settings: {
    text: `DB_HOST=localhost\nDB_USER=app\nDB_PASSWORD=${password}\nNODE_ENVIRONMENT=production\n`,
    secret: password,
  },
};

const ordinary = [
  '{ "type": "integer", "minimum": 2 }',
  'href="https://example.org/a"',
  'function serve(context: TestContext, name: string): void',
  '  name: other',
  'a tool of a server: `github`',
  'connect to localhost:8080 with DB_HOST=localhost',
  'client_id with client_secret or private_key',
  "if (text.includes('-----END ', start)) return;",
];

for (const [what, { text, secret }] of Object.entries(files)) {
  test(`a secret that is a file leaves the words of its format readable elsewhere: ${what}`, () => {
    const { redactText } = new Redactor([text]);
    for (const line of ordinary) assert.equal(redactText(line), line);
  });

  test(`no piece of what is secret in a file is shown, alone or escaped: ${what}`, () => {
    const { redactText } = new Redactor([text]);
    const wholes = [text, JSON.stringify(text), encodeURIComponent(text), text.replaceAll('\n', '\n+   ')];
    const pieces = [secret, secret.slice(0, -3), secret.slice(2), `x=${secret.slice(1)};`, ...text.split('\n')];
    for (const told of [...wholes, ...pieces.filter((piece) => piece.includes(secret.slice(3, -3)))]) {
      const shown = redactText(told);
      for (let at = 0; at + 8 <= secret.length; at++) {
        const piece = secret.slice(at, at + 8);
        assert.ok(!shown.includes(piece) && !shown.includes(encodeURIComponent(piece)), what);
      }
    }
  });
}

test('the password within an address or a file of settings is known by itself too', () => {
  for (const [secret, inner] of [
    ['postgres://app:hunter2hunter@localhost:5432/inventory', 'hunter2hunter'],
    ['Server=db;User Id=sa;Password=letmeinplease;Encrypt=true', 'letmeinplease'],
    ['{"username":"bob","password":"correcthorse"}', 'correcthorse'],
    ['machine example.com login me password opensesame', 'opensesame'],
    ['https://example.com/?token=willowtree1', 'willowtree1'],
    ['DB_HOST=localhost\nDB_PASSWORD="two words here"\n', 'two words here'],
    ['user: bob\npassword: opensesame\n', 'opensesame'],
  ] as const) {
    const { redactText } = new Redactor([secret]);
    assert.equal(redactText(`login failed for ${inner} at localhost`), 'login failed for [redacted] at localhost');
  }
});

test('a secret of many lines that begin alike is learned and looked for without long waits', () => {
  const lines = Array.from({ length: 2000 }, (_, at) => `KEY_NUMBER_${at}=abcdefgh${at}`);
  const { redactText } = new Redactor([lines.join('\n')]);
  const before = process.threadCpuUsage();
  for (const text of ['KEY_NUMBER_x ', '=abcdefgx']) redactText(text.repeat(5000));
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 5_000_000, `${user + system} µs of CPU`);
  assert.doesNotMatch(redactText(`- ${lines[777]}`), /abcdefgh777/);
});

test('a secret in a path is hidden in the rule that is drafted for the path', () => {
  for (const secret of ['blue$river*moss', 'green\u200bstone\u2028wall', 'two\nlines[of]text']) {
    const { redactText } = new Redactor([secret]);
    const rule = `paths: [${JSON.stringify(exactPathPattern(`/srv/${secret}/a.txt`))}]`;
    assert.doesNotMatch(redactText(rule), /river|stone|lines/, rule);
  }
});

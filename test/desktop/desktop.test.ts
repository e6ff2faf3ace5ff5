import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { appsOpen } from '../../packages/gateway/src/catalogue/desktop/apps-open.ts';
import { clipboardTools } from '../../packages/gateway/src/catalogue/desktop/clipboard.ts';
import { notifySend } from '../../packages/gateway/src/catalogue/desktop/notify-send.ts';
import { desktopTools } from '../../packages/gateway/src/catalogue/desktop/index.ts';
import type { AnyTool } from '../../packages/gateway/src/call/tool.ts';
import { requirement } from '../requirement.ts';
import { ToolWorkshop } from '../executables/tool-workshop.ts';
import { DesktopSession, explainMissingDesktop } from './desktop-session.ts';

const skip = explainMissingDesktop();

test('without a display or a session the tools say so, before anybody is asked', async (t) => {
  const workshop = await ToolWorkshop.open(t);
  const args = { text: 'x', title: 'x', app: 'vim' };
  for (const tool of desktopTools({}).filter(({ definition }) => definition.name !== 'browser.open_url')) {
    const expected = {
      name: 'ToolFailure',
      message: /no display|no desktop session|terminal|no application|not installed/,
    };
    await assert.rejects(workshop.callTool(tool, args), expected, tool.definition.name);
    const context = { session: { agent: 'ada' }, ...workshop.context([], [], {}) } as never;
    await assert.rejects(async () => tool.preview(args, context), expected, tool.definition.name);
  }
});

test(
  'text goes to the clipboard of a real display and comes back, until something else is copied',
  { skip },
  async (t) => {
    requirement('CAT-5');
    const workshop = await ToolWorkshop.open(t);
    const desktop = await DesktopSession.open(t);
    const [read, write] = clipboardTools(desktop.environment) as [AnyTool, AnyTool];
    await assert.rejects(workshop.callTool(read, {}), { code: 'NOT_FOUND' });

    const text = `Grüße, -selection "primary" $(id)\n${'x'.repeat(100_000)}`;
    assert.deepEqual((await workshop.callTool(write, { text })).output, { characters: text.length });
    assert.equal(desktop.run('/usr/bin/xclip', ['-selection', 'clipboard', '-out']), text, 'others see it');
    assert.deepEqual((await workshop.callTool(read, {})).output, { text });
    await workshop.callTool(write, { text: 'second' });
    assert.deepEqual((await workshop.callTool(read, {})).output, { text: 'second' });

    const env = { ...desktop.environment };
    const other = spawn('/usr/bin/xclip', ['-selection', 'clipboard', '-quiet'], {
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    other.stdin.end('copied by a person');
    await desktop.until(
      () => desktop.run('/usr/bin/xclip', ['-selection', 'clipboard', '-out']).startsWith('copied'),
      'copied',
    );
    assert.deepEqual((await workshop.callTool(read, {})).output, { text: 'copied by a person' });
    await workshop.callTool(write, { text: 'third' });
    if (other.exitCode === null) await once(other, 'exit');
    // What offers the last text ends with the display.
  },
);

test('a notice reaches the desktop as plain text under the name of the agent', { skip }, async (t) => {
  requirement('CAT-5');
  const workshop = await ToolWorkshop.open(t);
  const desktop = await DesktopSession.open(t);
  const tool = notifySend(desktop.environment);
  const text = 'a <b>bold</b> claim & \\n more';
  await desktop.until(
    () => desktop.run('/usr/bin/dbus-send', listNames).includes('org.freedesktop.Notifications'),
    'dunst',
  );
  assert.deepEqual((await workshop.callTool(tool, { title: '--help', text })).output, { shown: true });
  await desktop.until(() => desktop.notices.join('\n').includes('claim'), 'the notice');
  const shown = desktop.notices.join('\n');
  assert.match(shown, /[\w-]+: --help/);
  assert.ok(shown.includes('a &lt;b&gt;bold&lt;/b&gt; claim &amp; \\n more'), shown);
});

const listNames = ['--session', '--print-reply', '--dest=org.freedesktop.DBus', '/', 'org.freedesktop.DBus.ListNames'];

const entry = (exec: string, more = ''): string =>
  `[Desktop Entry]\nType=Application\nName=Test\nExec=${exec}\n${more}`;

test(
  'an application opens in the sandbox, sees no file of anybody, and only the list of the machine counts',
  {
    skip: skip || (process.getuid?.() !== 0 && 'only root can write a list of applications'),
  },
  async (t) => {
    requirement('CAT-5');
    const workshop = await ToolWorkshop.open(t);
    const desktop = await DesktopSession.open(t);
    const list = join(workshop.folder, 'applications');
    mkdirSync(list);
    writeFileSync(join(list, 'hello.desktop'), entry('/usr/bin/xmessage -title sallyport-hello "two words" %F %u'));
    writeFileSync(join(list, 'looking.desktop'), entry(`/usr/bin/ls ${workshop.folder}`));
    writeFileSync(join(list, 'vim.desktop'), entry('/usr/bin/env', 'Terminal=true\n'));
    writeFileSync(join(list, 'loose.desktop'), entry('/usr/bin/xmessage hello'));
    chmodSync(join(list, 'loose.desktop'), 0o666);
    const tool = appsOpen(desktop.environment, [list]);
    assert.deepEqual((await workshop.callTool(tool, { app: 'hello' })).output, { app: 'Test' });
    const windows = (): string => desktop.run('/usr/bin/xwininfo', ['-root', '-tree']);
    await desktop.until(() => windows().includes('sallyport-hello'), 'the window');
    await assert.rejects(workshop.callTool(tool, { app: 'looking' }), { message: /ended at once: .*No such file/s });
    await assert.rejects(workshop.callTool(tool, { app: 'vim' }), { message: /terminal/ });
    await assert.rejects(workshop.callTool(tool, { app: 'loose' }), { message: /can change/ });
    await assert.rejects(workshop.callTool(tool, { app: 'absent' }), { code: 'NOT_FOUND' });
  },
);

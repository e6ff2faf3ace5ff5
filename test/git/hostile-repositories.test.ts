import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { SpawnerClient } from '../../packages/sandbox/src/spawner/spawner-client.ts';
import { GitWorkspace } from './git-workspace.ts';

const programs = new SpawnerClient();
after(() => programs.close());

interface Trick {
  readonly name: string;
  readonly prepare: (workspace: GitWorkspace, evil: string) => void;
  /** Commands of which at least one falls for it when a person runs it. */
  readonly commands: readonly string[];
}

const attribute = (workspace: GitWorkspace, text: string): void => {
  workspace.put('.gitattributes', `${text}\n`);
};

const tricks: readonly Trick[] = [
  ...['pre-commit', 'commit-msg', 'prepare-commit-msg', 'post-commit', 'reference-transaction'].map((hook) => ({
    name: `the hook ${hook}`,
    prepare: (workspace: GitWorkspace) => void workspace.program(`.git/hooks/${hook}`),
    commands: ['commit --allow-empty -m x'],
  })),
  {
    name: 'a hook after a checkout',
    prepare: (workspace) => void workspace.program('.git/hooks/post-checkout'),
    commands: ['checkout topic'],
  },
  {
    name: 'a hook after a merge',
    prepare: (workspace) => void workspace.program('.git/hooks/post-merge'),
    commands: ['merge --no-edit topic'],
  },
  {
    name: 'a hook before a rebase',
    prepare: (workspace) => void workspace.program('.git/hooks/pre-rebase'),
    commands: ['rebase topic'],
  },
  {
    name: 'hooks in another folder',
    prepare: (workspace) => {
      workspace.program('hooks/pre-commit');
      workspace.configure(`[core]\nhooksPath = ${workspace.at('hooks')}`);
    },
    commands: ['commit --allow-empty -m x'],
  },
  {
    name: 'a file system monitor',
    prepare: (workspace, evil) => workspace.configure(`[core]\nfsmonitor = ${evil}`),
    commands: ['status', 'diff', 'add -A'],
  },
  {
    name: 'a filter that cleans',
    prepare: (workspace, evil) => {
      attribute(workspace, '* filter=evil');
      workspace.configure(`[filter "evil"]\nclean = ${evil}\nrequired = true`);
      workspace.put('a.txt', 'changed\n');
    },
    commands: ['add a.txt', 'status', 'diff', 'commit -am x', 'stash'],
  },
  {
    name: 'a filter that smudges',
    prepare: (workspace, evil) => {
      attribute(workspace, '* filter=evil.one');
      workspace.configure(`[filter "evil.one"]\nsmudge = ${evil}`);
    },
    commands: ['checkout topic', 'reset --hard topic', 'merge --no-edit topic'],
  },
  {
    name: 'a filter that stays',
    prepare: (workspace, evil) => {
      attribute(workspace, '* filter=evil');
      workspace.configure(`[filter "evil"]\nprocess = ${evil} </dev/null`);
      workspace.put('a.txt', 'changed\n');
    },
    commands: ['add a.txt'],
  },
  {
    name: 'an external diff',
    prepare: (workspace, evil) => {
      workspace.configure(`[diff]\nexternal = ${evil}`);
      workspace.put('a.txt', 'changed\n');
    },
    commands: ['diff', 'stash'],
  },
  {
    name: 'a diff for one kind of file',
    prepare: (workspace, evil) => {
      attribute(workspace, '*.txt diff=evil');
      workspace.configure(`[diff "evil"]\ncommand = ${evil}`);
      workspace.put('a.txt', 'changed\n');
    },
    commands: ['diff'],
  },
  {
    name: 'a conversion to text',
    prepare: (workspace, evil) => {
      attribute(workspace, '*.txt diff=evil');
      workspace.configure(`[diff "evil"]\ntextconv = ${evil}`);
      workspace.put('a.txt', 'changed\n');
    },
    commands: ['diff', 'log -p', 'show HEAD'],
  },
  {
    name: 'a merge driver',
    prepare: (workspace, evil) => {
      workspace.plain('checkout', '-q', 'topic');
      workspace.commit('conflict', { 'a.txt': 'other\n', '.gitattributes': '*.txt merge=evil\n' });
      workspace.plain('checkout', '-q', 'main');
      workspace.commit('attributes', { '.gitattributes': '*.txt merge=evil\n' });
      workspace.configure(`[merge "evil"]\ndriver = ${evil} %A`);
    },
    commands: ['merge --no-edit topic'],
  },
  {
    name: 'a configuration that includes another',
    prepare: (workspace, evil) => {
      attribute(workspace, '* filter=evil');
      workspace.put('included', `[filter "evil"]\nclean = ${evil}\n`);
      workspace.configure(`[include]\npath = ${workspace.at('included')}`);
      workspace.put('a.txt', 'changed\n');
    },
    commands: ['add a.txt'],
  },
  {
    name: 'a configuration for one worktree',
    prepare: (workspace, evil) => {
      attribute(workspace, '* filter=evil');
      workspace.configure('[extensions]\nworktreeConfig = true');
      workspace.put('.git/config.worktree', `[filter "evil"]\nclean = ${evil}\n`);
      workspace.put('a.txt', 'changed\n');
    },
    commands: ['add a.txt'],
  },
  {
    name: 'an editor',
    prepare: (workspace, evil) => workspace.configure(`[core]\neditor = ${evil}`),
    commands: ['commit --allow-empty', 'tag -a v1'],
  },
  {
    name: 'a program that signs',
    prepare: (workspace, evil) =>
      workspace.configure(`[commit]\ngpgSign = true\n[tag]\ngpgSign = true\n[gpg]\nprogram = ${evil}`),
    commands: ['commit --allow-empty -m x', 'tag -a v1 -m x'],
  },
  {
    name: 'another program for the other side of a fetch',
    prepare: (workspace, evil) => {
      workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
      workspace.configure(`[remote "origin"]\nurl = ${workspace.at('remote.git')}\nuploadpack = ${evil}`);
    },
    commands: ['fetch origin'],
  },
  {
    name: 'another program for the other side of a push',
    prepare: (workspace, evil) => {
      workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
      workspace.configure(`[remote "origin"]\nurl = ${workspace.at('remote.git')}\nreceivepack = ${evil}`);
    },
    commands: ['push origin main'],
  },
  {
    name: 'a hook of the repository that is pushed to',
    prepare: (workspace) => {
      workspace.plain('clone', '-q', '--bare', '.', 'remote.git');
      workspace.program('remote.git/hooks/pre-receive');
      workspace.configure(`[remote "origin"]\nurl = ${workspace.at('remote.git')}`);
      workspace.plain('commit', '-q', '--allow-empty', '-m', 'new');
    },
    commands: ['push origin main'],
  },
  {
    name: 'a command instead of an address',
    prepare: (workspace, evil) =>
      workspace.configure(`[protocol "ext"]\nallow = always\n[remote "origin"]\nurl = ext::${evil} x`),
    commands: ['fetch origin'],
  },
  {
    name: 'a command that replaces an address',
    prepare: (workspace, evil) =>
      workspace.configure(
        `[protocol "ext"]\nallow = always\n[remote "origin"]\nurl = far/x\n[url "ext::${evil} "]\ninsteadOf = far/`,
      ),
    commands: ['fetch origin'],
  },
  {
    name: 'a remote that is a program',
    prepare: (workspace, evil) =>
      workspace.configure(`[protocol "ext"]\nallow = always\n[remote "origin"]\nurl = ${evil} x\nvcs = ext`),
    commands: ['fetch origin'],
  },
  {
    name: 'another program for ssh',
    prepare: (workspace, evil) =>
      workspace.configure(`[core]\nsshCommand = ${evil}\n[remote "origin"]\nurl = ssh://host.invalid/x`),
    commands: ['fetch origin'],
  },
  {
    name: 'a filter in a submodule',
    prepare: (workspace, evil) => {
      workspace.plain('clone', '-q', '.', 'inner');
      workspace.plain('-C', 'inner', 'config', 'filter.evil.clean', evil);
      workspace.put('inner/.gitattributes', '* filter=evil\n');
      workspace.plain('add', 'inner');
      workspace.put('inner/a.txt', 'changed\n');
    },
    commands: [
      ...['status', 'diff', 'add -u', 'add -A', 'add inner', 'stash', 'checkout topic', 'checkout main', 'merge topic'],
      ...['reset --hard', 'commit --allow-empty -am x', 'rebase topic', 'diff HEAD~1', 'show', 'log -p -1'],
    ],
  },
  {
    name: 'a submodule that is shown whole',
    prepare: (workspace, evil) => {
      workspace.plain('clone', '-q', '.', 'inner');
      workspace.plain('add', 'inner');
      workspace.plain('commit', '-q', '-m', 'with a submodule');
      workspace.plain('-C', 'inner', 'checkout', '-q', 'origin/topic');
      workspace.plain('-C', 'inner', 'config', 'diff.evil.textconv', evil);
      workspace.put('.git/modules/placeholder');
      workspace.put('inner/.git/info/attributes', '*.txt diff=evil\n');
      workspace.configure('[diff]\nsubmodule = diff\n[status]\nsubmoduleSummary = true');
    },
    commands: ['diff', 'status', 'diff HEAD', 'log -p -2'],
  },
];

// Without the sandbox, so that each of them would leave its mark if git fell for it.
describe(
  'what a repository brings along is not run, not even where nothing confines it',
  { concurrency: false },
  () => {
    const open = ({ prepare }: Trick): GitWorkspace => {
      const workspace = new GitWorkspace(programs, { isolation: 'none' });
      prepare(workspace, workspace.program('../evil'));
      workspace.giveAway();
      workspace.takeMarker();
      return workspace;
    };
    for (const trick of tricks) {
      test(trick.name, async () => {
        using persons = open(trick);
        const fellFor = trick.commands.filter((command) => {
          persons.plain(...command.split(' '));
          return persons.takeMarker();
        });
        assert.notDeepEqual(fellFor, [], 'the trick does not work, so this test shows nothing');
        using agents = open(trick);
        for (const command of trick.commands) {
          await agents.git(command).catch(() => undefined);
          assert.ok(!agents.takeMarker(), `git ${command} ran it`);
        }
      });
    }
  },
);

import { AppliedRules } from '../packages/gateway/src/policy/files/applied-rules.ts';

// Prints the CPU milliseconds in which a fresh process comes to the rules in force, imports not counted.
const [folder = '', keptFile = '', home = '', workspace = '', programFolder = ''] = process.argv.slice(2);
const before = process.threadCpuUsage();
const { current } = new AppliedRules(
  { findFolder: () => folder, home, workspace, userHome: home, programFolder, environment: {} },
  keptFile,
  { secret: 'bench', isNew: false },
);
const { user, system } = process.threadCpuUsage(before);
if (current.count === 0) throw new Error(`there are no rules in ${folder}`);
process.stdout.write(String((user + system) / 1000));

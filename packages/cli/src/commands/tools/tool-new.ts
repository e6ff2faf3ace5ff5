import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isToolName, nameRule } from '@sallyport/gateway';
import { packageFile } from '../package-files.ts';
import type { CommandContext } from '../../command-context.ts';
import { quoteForShell } from '../../terminal/command-name.ts';
import { describeError, hasErrorCode, usageFailure } from '../../client/failure.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { Given } from '../../command-table.ts';
import type { newOptions } from './tool-commands.ts';

export type ToolNewOptions = Given<typeof newOptions>;

const languages = ['ts', 'py', 'sh'] as const;
type Language = (typeof languages)[number];

/** Writes a tool that works as it is, for a person to change. */
export function newTool(name: string, options: ToolNewOptions, context: CommandContext): number {
  if (!isToolName(name)) {
    throw usageFailure(`A tool cannot be called ${JSON.stringify(name.slice(0, 100))}.`, `Use ${nameRule}.`);
  }
  const language = chooseLanguage(options);
  const folder = options.folder === undefined ? join(context.config.toolsFolder, 'bin') : resolve(options.folder);
  const file = join(folder, `${name}.${language}`);
  writeNewProgram(folder, file, fillTemplate(language, name));
  if (context.json) context.terminal.print(visibleJson({ name, language, file }));
  else context.terminal.print(...nextSteps(name, file, options, context));
  return 0;
}

function chooseLanguage(options: ToolNewOptions): Language {
  const [chosen, ...more] = languages.filter((language) => options[language] === true);
  if (more.length > 0) throw usageFailure('A tool is written in one language.', 'Give one of --ts, --py and --sh.');
  return chosen ?? 'ts';
}

function fillTemplate(language: Language, name: string): string {
  const template = readFileSync(packageFile(`templates/tool.${language}.template`), 'utf8');
  return template.replaceAll('__NAME__', name);
}

/** Never touches what is there, whatever it is: the file is created or the command fails. */
function writeNewProgram(folder: string, file: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { flag: 'wx', mode: 0o755 });
    // The umask must not take away what makes it a program.
    chmodSync(file, 0o755);
  } catch (error) {
    const isTaken = hasErrorCode(error, 'EEXIST') && (error as NodeJS.ErrnoException).syscall === 'open';
    if (!isTaken) throw usageFailure(`The tool cannot be written: ${describeError(error)}`);
    throw usageFailure(`${file} exists and stays as it is.`, 'Choose another name, or remove the file first.');
  }
}

function nextSteps(name: string, file: string, { folder }: ToolNewOptions, context: CommandContext): string[] {
  const { paint } = context.terminal;
  const run = (command: string): string => `  ${context.commandName} ${command}`;
  return [
    `${paint('bold', name)} is written, and works as it is:`,
    `  ${makeVisibleLine(file)}`,
    '',
    'Change it, and try it in the sandbox as you go:',
    run(`tool dev ${folder === undefined ? name : quoteForShell(file)}`),
    '',
    ...(folder === undefined
      ? ['Let agents use it:']
      : [
          'Let agents use it: install it, then accept it.',
          run(`tool install ${makeVisibleLine(quoteForShell(file))}`),
        ]),
    run(`tool accept ${name}`),
  ];
}

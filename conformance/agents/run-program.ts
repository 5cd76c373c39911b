import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import type { AgentProgram } from './agent-program.ts';
import { type BoundedRun, runBounded } from './run-bounded.ts';
import { type AgentTask, noteText } from './tasks.ts';

const limitMs = 60_000;

export type ProgramRun = {
  /** Directory with the installed programs. */
  readonly directory: string;
  readonly program: AgentProgram;
  readonly task: AgentTask;
  readonly gatewayUrl: string;
  readonly apiKey: string;
};

/** The path of the user's shell: npm puts this project's own Node first, for which programs are not made. */
function ownPath(): string {
  const entries = (process.env['PATH'] ?? '').split(delimiter);
  return entries.filter((entry) => !entry.includes('node_modules')).join(delimiter);
}

/** Runs a program once on a task, in a home directory of its own with only the files that its user must write. */
export async function runProgram({ directory, program, task, gatewayUrl, apiKey }: ProgramRun): Promise<BoundedRun> {
  const home = mkdtempSync(join(tmpdir(), 'weir-agent-'));
  try {
    const setup = program.setUp({ gatewayUrl, apiKey, home });
    const work = join(home, 'work');
    const note = join(work, 'note.txt');
    for (const [path, text] of [...Object.entries(setup.files).map(([name, file]) => [join(home, name), file]), [note, noteText]]) {
      if (path === undefined || text === undefined) continue;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    return await runBounded(join(directory, 'node_modules/.bin', program.binary), setup.command(task.prompt(program, note)), {
      cwd: work,
      environment: { PATH: ownPath(), HOME: home, LANG: 'C.UTF-8', ...setup.environment },
      limitMs,
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { root } from './source-files.ts';

/**
 * `npm run check`: all checks of `package.json`, two at a time, the longest first. Some of them use one processor most
 * of the time. Each prints what it has to say when it ends, and all of them run, also after one that failed.
 */
const waiting = ['typecheck', 'lint', 'check:house', 'deadcode', 'format:check', 'prose'];
const atOnce = 2;

async function runNext(): Promise<void> {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
    const child = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await once(child, 'close');
    if (child.exitCode !== 0) process.exitCode = 1;
    process.stdout.write(`${script}${child.exitCode === 0 ? '' : ' FAILED'}\n${printed}`);
  }
}

await Promise.all(Array.from({ length: atOnce }, runNext));

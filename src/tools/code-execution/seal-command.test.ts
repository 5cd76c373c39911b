import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import { composeCommand, findProgram } from './seal-command.ts';

test(
  'without a shell, prlimit sets the same kernel limits as the shell does',
  { skip: findProgram('prlimit') === undefined && 'this system has no prlimit' },
  () => {
    const limitsSetBy = (limiter: string): string => {
      const limits = { timeoutMs: 30_000, memoryMb: 512, outputBytesMax: 1 };
      const { program, args } = composeCommand(new Set(), limits, [], limiter);
      // In place of Node, a program is executed that prints its limits.
      return execFileSync(program, [...args.slice(0, args.indexOf(process.execPath)), '/bin/cat', '/proc/self/limits'], {
        encoding: 'utf8',
      });
    };
    const set = limitsSetBy('/bin/sh');
    assert.match(set, /Max open files +64 +64/);
    assert.match(set, /Max cpu time +140 +140/);
    assert.equal(limitsSetBy(findProgram('prlimit') ?? ''), set);
  },
);

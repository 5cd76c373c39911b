import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';

import { createLogger, silentLogger } from './log.ts';

function collect(level: string) {
  const lines: string[] = [];
  const logger = createLogger({ level, destination: { write: (line) => void lines.push(line) } });
  return { logger, lines };
}

test('an entry is one JSON line with its level, time and message', () => {
  const { logger, lines } = collect('info');
  logger.warn({ callId: 'req_1' }, 'two\nlines');
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^\{[^\n]*\}\n$/);
  const entry = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  assert.equal(entry['callId'], 'req_1');
  assert.equal(entry['msg'], 'two\nlines');
  assert.match(String(entry['time']), /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.equal('pid' in entry || 'hostname' in entry, false);
});

test('entries below the level are not written', () => {
  const { logger, lines } = collect('warn');
  logger.debug('no');
  logger.info('no');
  logger.error('yes');
  assert.equal(lines.length, 1);
  const silent = collect('silent');
  silent.logger.error('no');
  assert.deepEqual(silent.lines, []);
});

test('a secret under a usual name is never written', () => {
  const { logger, lines } = collect('info');
  for (const name of ['authorization', 'apiKey', 'secret', 'token', 'key', 'password', 'x-api-key', 'x-goog-api-key']) {
    logger.info({ [name]: 'sk-top' }, 'top');
    logger.info({ headers: { [name]: 'sk-nested' } }, 'nested');
  }
  assert.equal(lines.length, 16);
  assert.doesNotMatch(lines.join(''), /sk-/);
  assert.equal(lines.join('').split('[redacted]').length, 17);
});

test('an error is written with its stack and without breaking the line', () => {
  const { logger, lines } = collect('info');
  logger.error({ err: new TypeError('bug') }, 'it failed');
  const entry = JSON.parse(lines[0] ?? '') as { err: { type: string; message: string; stack: string } };
  assert.deepEqual([entry.err.type, entry.err.message], ['TypeError', 'bug']);
  assert.match(entry.err.stack, /log\.test\.ts/);
});

test('the silent logger takes everything', () => {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) assert.doesNotThrow(() => silentLogger[level]({ a: 1 }, 'x'));
});

/** A process that writes lines one after another, each after `pauseMs`, and then waits. */
const writer = (pauseMs: number): string => `
  import { createLogDestination } from ${JSON.stringify(import.meta.resolve('./log.ts'))};
  const destination = createLogDestination({ isTerminal: false });
  for (let line = 1; line <= 5; line += 1) {
    destination.write('line ' + line + '\\n');
    await new Promise((resolve) => setTimeout(resolve, ${pauseMs}));
  }
  setInterval(() => {}, 60_000);
`;

for (const pauseMs of [0, 20, 250]) {
  test(`lines that come every ${pauseMs} ms reach the reader without later lines`, { timeout: 20_000 }, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', writer(pauseMs)], { stdio: ['ignore', 'ignore', 'pipe'] });
    try {
      let read = '';
      for await (const piece of child.stderr) {
        read += String(piece);
        if (read.endsWith('line 5\n')) break;
      }
      assert.equal(read, 'line 1\nline 2\nline 3\nline 4\nline 5\n');
    } finally {
      child.kill('SIGKILL');
    }
  });
}

import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import { printTexts } from './print-texts.ts';

/** An output that fails with this error after one text, as a pipe whose reader has closed it. */
function createBrokenPipe(code: string): Writable {
  let written = 0;
  return new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => {
      const error = (written += 1) > 1 ? Object.assign(new Error(`write ${code}`), { code }) : null;
      setImmediate(() => done(error));
    },
  });
}

test('a slow reader receives all texts in their order', async () => {
  const output = new PassThrough({ highWaterMark: 1 });
  const read = text(output);
  await printTexts(output, ['one ', 'two ', 'three']);
  output.end();
  assert.equal(await read, 'one two three');
});

test('a reader that closes a full pipe ends the texts without an error', async () => {
  let produced = 0;
  async function* texts(): AsyncGenerator<string> {
    for (;;) yield `line ${(produced += 1)}\n`;
  }
  await printTexts(createBrokenPipe('EPIPE'), texts());
  assert.equal(produced, 3);
});

test('any other error of the output is thrown', async () => {
  await assert.rejects(printTexts(createBrokenPipe('ENOSPC'), ['one', 'two', 'three']), { code: 'ENOSPC' });
});

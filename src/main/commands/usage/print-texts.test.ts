import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import { printTexts } from './print-texts.ts';

/** An output that fails with such an error when it has taken one text, as a pipe does that nobody reads any more. */
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

test('everything is written, in order, while the reader keeps it waiting', async () => {
  const output = new PassThrough({ highWaterMark: 1 });
  const read = text(output);
  await printTexts(output, ['one ', 'two ', 'three']);
  output.end();
  assert.equal(await read, 'one two three');
});

test('a reader who leaves while its output is full is no failure, and ends the texts', async () => {
  let asked = 0;
  async function* texts(): AsyncGenerator<string> {
    for (;;) yield `line ${(asked += 1)}\n`;
  }
  await printTexts(createBrokenPipe('EPIPE'), texts());
  assert.equal(asked, 3);
});

test('any other failure of the output is told', async () => {
  await assert.rejects(printTexts(createBrokenPipe('ENOSPC'), ['one', 'two', 'three']), { code: 'ENOSPC' });
});

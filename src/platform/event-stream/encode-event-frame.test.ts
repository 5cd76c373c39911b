import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encodeEventFrame } from './encode-event-frame.ts';

/** Made with the codec of AWS's SDK. */
const vector =
  '000000920000004b2fea33010b3a6576656e742d747970650700056368756e6b0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e' +
  '0d3a6d6573736167652d747970650700056576656e747b226279746573223a2265794a306558426c496a6f696257567a6332466e5a56397a6447467964434a39222c' +
  '2270223a2261626364227d3a5c819c';

test('a frame has the bytes that the codec of AWS writes', () => {
  const headers = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' };
  const payload = Buffer.from('{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdGFydCJ9","p":"abcd"}');
  assert.equal(encodeEventFrame(headers, payload).toString('hex'), vector);
});

test('a frame without headers and payload consists of its lengths and checksums', () => {
  const frame = encodeEventFrame({}, Buffer.alloc(0));
  assert.equal(frame.length, 16);
  assert.equal(frame.readUInt32BE(0), 16);
  assert.equal(frame.readUInt32BE(4), 0);
});

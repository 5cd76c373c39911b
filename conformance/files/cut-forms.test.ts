import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { call } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';

const paths = ['/v1/files', '/v1/audio/transcriptions', '/v1/audio/translations', '/v1/images/edits', '/v1/videos'];

describe('a form whose file is cut short', () => {
  let running: SimulatedWeir;
  before(async () => {
    running = await startSimulatedGateway();
  });
  after(() => running[Symbol.asyncDispose]());

  // The file of a field that is not expected is refused before its end is missed, and nobody reads it any more. Its
  // error ended the process.
  for (const path of paths)
    test(`${path}: it is refused, in an expected field and in another, and the process lives`, async () => {
      for (const field of ['file', 'image', 'input_reference', 'other']) {
        const answer = await call(`${running.weir.gatewayUrl}${path}`, {
          headers: { authorization: `Bearer ${running.weir.apiKey}`, 'content-type': 'multipart/form-data; boundary=cut' },
          body: `--cut\r\ncontent-disposition: form-data; name="${field}"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\nRIFF`,
        });
        assert.equal(answer.status, 400, answer.text);
      }
      assert.equal((await call(`${running.weir.gatewayUrl}/health/live`)).status, 200);
    });
});

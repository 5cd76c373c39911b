import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { allModes } from '../faults/fault-bench.ts';
import { by, type LimitsBench, startLimitsBench } from '../limits/limits-bench.ts';
import { eventually } from '../support/http.ts';

const clients = 60;
const mebibyte = 1024 * 1024;

/** Together they announce three times the bytes of requests that the gateway holds at a time. */
const announcements: readonly (readonly [name: string, header: string, first: string])[] = [
  ['bodies without a length', 'transfer-encoding: chunked', '1\r\n{\r\n'],
  ['bodies of 30 MB', `content-length: ${30 * mebibyte}`, '{'],
];

/** Clients that announce large bodies and send little. */
describe('announced bodies', () => {
  let bench: LimitsBench;
  let other: string;
  before(async () => {
    bench = await startLimitsBench();
    other = await bench.createKey('other');
  });
  after(() => bench[Symbol.asyncDispose]());

  const [mode] = allModes;
  assert.ok(mode);

  for (const [name, header, first] of announcements) {
    test(`${name} that arrive only in part block no other client`, async () => {
      const { hostname, port } = new URL(bench.weir.gatewayUrl);
      const head = `POST /v1/messages HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${bench.weir.apiKey}\r\ncontent-type: application/json\r\nanthropic-version: 2023-06-01\r\n`;
      const sockets: Socket[] = [];
      let answers = 0;
      try {
        for (let index = 0; index < clients; index++) {
          const socket = connect(Number(port), hostname);
          socket.on('error', () => {});
          socket.on('data', () => (answers += 1));
          socket.write(`${head}${header}\r\n\r\n${first}`);
          sockets.push(socket);
        }
        await eventually(
          () => sockets.filter(({ connecting, bytesWritten }) => !connecting && bytesWritten > head.length).length,
          (sent) => sent === clients,
        );
        for (let round = 0; round < 4; round++) {
          for (const key of [bench.weir.apiKey, other]) {
            const reply = await bench.send(mode, by(key));
            assert.equal(reply.status, 200, reply.text);
          }
        }
        assert.equal(answers, 0, 'none of them is refused because of its missing part');
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });
  }
});

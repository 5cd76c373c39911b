import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * The minimum work of this runtime for serving a file: node:http and a stream of the file named by the first argument.
 * Prints its port.
 */
const [, , file = ''] = process.argv;
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'video/mp4' });
  pipeline(createReadStream(file), response, () => {});
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

import { request as httpRequest } from 'node:http';

import type { AudioWeir } from './audio-weir.ts';

/** The delimiter between the parts of the form. */
export const boundary = 'b0undary';

/** The head of the form's file. */
export function head(extra = 'a.wav'): Buffer {
  return Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${extra}"\r\ncontent-type: audio/wav\r\n\r\n`,
  );
}
const tail = Buffer.from(`\r\n--${boundary}\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--${boundary}--\r\n`);

type Sent = { readonly status: number; readonly json: any };

/** Sends a form whose file precedes its model. */
export function upload({ weir }: AudioWeir, file: Buffer, model = 'whisper-1'): Promise<Sent> {
  const end = Buffer.from(tail.toString().replace('whisper-1', model));
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${weir.gatewayUrl}/v1/audio/transcriptions`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${weir.apiKey}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => void pieces.push(piece));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(Buffer.concat(pieces).toString()) }));
      },
    );
    request.on('error', reject);
    request.write(head());
    request.write(file);
    request.end(end);
  });
}

type SocketSnippets = { readonly websocat: string; readonly python: string; readonly typescript: string };

/**
 * A message of a WebSocket as lines that send it elsewhere. curl cannot: websocat is a program of the same kind.
 * OpenAI's SDK for TypeScript has a class for it; Python's package websockets and ws are what others use.
 * @param variable how TypeScript reads the key
 */
export function writeSocket(address: string, path: string, message: object, variable: string): SocketSnippets {
  const target = `${address.replace(/^http/, 'ws')}${path}`;
  const text = JSON.stringify(message);
  const line = `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const shown = JSON.stringify(message, null, 2);
  return {
    websocat: `echo ${line} \\\n  | websocat -n -B 67108864 -H "authorization: Bearer $WEIR_API_KEY" '${target}'`,
    typescript: `import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';

const client = new OpenAI({ baseURL: ${JSON.stringify(`${address}/v1`)}, apiKey: ${variable} });
const socket = new ResponsesWS(client);
socket.on('event', (event) => {
  console.log(event);
  if (['response.completed', 'response.incomplete', 'response.failed'].includes(event.type)) socket.close();
});
socket.send(${shown});
`,
    python: `import json
import os

from websockets.sync.client import connect

message = json.loads(${JSON.stringify(text)})
headers = {"authorization": "Bearer " + os.environ["WEIR_API_KEY"]}
with connect(${JSON.stringify(target)}, additional_headers=headers, max_size=None) as socket:
    socket.send(json.dumps(message))
    for frame in socket:
        print(frame)
        if json.loads(frame)["type"] in ("response.completed", "response.incomplete", "response.failed", "error"):
            break
`,
  };
}

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { runCommand } from '../programs/run-command.ts';

/** `weir` as a shell function whose command runs in the test's process: a separate process takes ten times as long. */
export type ServedCommands = { readonly shellFunction: string; readonly [Symbol.asyncDispose]: () => Promise<void> };

/** @param directory for the output of the commands */
export async function serveCommands(directory: string): Promise<ServedCommands> {
  let last: Promise<unknown> = Promise.resolve();
  let count = 0;
  const run = async (body: string): Promise<string> => {
    const words = body.split('\0').slice(0, -1);
    const [workingDirectory = directory] = words;
    const divider = words.indexOf('--');
    const environment = Object.fromEntries(words.slice(1, divider).map((entry) => entry.split(/=(.*)/s).slice(0, 2)));
    const before = process.cwd();
    process.chdir(workingDirectory);
    const { code, stdout, stderr } = await runCommand(words.slice(divider + 1), environment).finally(() => process.chdir(before));
    const answer = join(directory, `answer-${(count += 1)}`);
    await Promise.all([writeFile(`${answer}.out`, stdout), writeFile(`${answer}.err`, stderr)]);
    return `${code} ${answer}`;
  };
  const server = createServer((request, response) => {
    void buffer(request).then(async (body) => {
      const answered = last.then(() => run(body.toString()));
      last = answered.catch(() => undefined);
      response.end(await answered.catch((error: unknown) => `failed ${String(error)}`));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const shellFunction = [
    'weir() {',
    '  local code answer name',
    '  read -r code answer <<< "$({',
    `    printf '%s\\0' "$PWD"; for name in $(compgen -e); do printf '%s\\0' "$name=\${!name}"; done; printf -- '--\\0'; printf '%s\\0' "$@"`,
    `  } | curl -qs --data-binary @- http://127.0.0.1:${port}/)"`,
    '  cat "$answer.out"; cat "$answer.err" >&2; return "$code"',
    '}',
  ].join('\n');
  return {
    shellFunction,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

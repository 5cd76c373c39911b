import { parseArgs } from 'node:util';
import { readPace } from './steering.ts';

const help = `Simulated model vendors over real HTTP, in their native formats.

  node simulator/src/main.ts [options]

  --host <address>            address to listen on (127.0.0.1)
  --anthropic-port <port>     port of each vendor and of the control server; a free one if absent
  --openai-port <port>
  --gemini-port <port>
  --xai-port <port>
  --search-port <port>        port of the search services and their pages
  --control-port <port>
  --seed <text>               decides what is answered (weir)
  --api-key <key>             a known credential, may be repeated; without it any credential is accepted
  --pace <pace>               tokensPerSecond=40;firstTokenMs=200;tokensPerFrame=4, any subset (as fast as possible)
  --video <script>            how video jobs go: ms=4000;end=done, any subset
  --chunk-bytes <bytes>       splits every reply into pieces of so many bytes
  --record-file <path>        appends the truth about every call, a JSON object a line
  --help                      prints this

Steering headers, faults and the control server are described in simulator/README.md.
`;

const options = {
  host: { type: 'string', default: '127.0.0.1' },
  'anthropic-port': { type: 'string' },
  'openai-port': { type: 'string' },
  'gemini-port': { type: 'string' },
  'xai-port': { type: 'string' },
  'search-port': { type: 'string' },
  'control-port': { type: 'string' },
  seed: { type: 'string', default: 'weir' },
  'api-key': { type: 'string', multiple: true },
  pace: { type: 'string', default: '' },
  video: { type: 'string', default: '' },
  'chunk-bytes': { type: 'string' },
  'record-file': { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

try {
  const { values } = parseArgs({ options });
  if (values.help) process.stdout.write(help);
  else await run(values);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

async function run(values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values']): Promise<void> {
  // The vendors' schemas take half a second to load, which `--help` and invalid options do not need.
  const { startSimulator } = await import('./start-simulator.ts');
  const simulator = await startSimulator({
    host: values.host,
    ports: {
      anthropic: readNumber('anthropic-port', values['anthropic-port'], 65_535),
      openai: readNumber('openai-port', values['openai-port'], 65_535),
      gemini: readNumber('gemini-port', values['gemini-port'], 65_535),
      xai: readNumber('xai-port', values['xai-port'], 65_535),
      search: readNumber('search-port', values['search-port'], 65_535),
      control: readNumber('control-port', values['control-port'], 65_535),
    },
    seed: values.seed,
    pace: readPace(values.pace),
    video: values.video,
    chunkBytes: readNumber('chunk-bytes', values['chunk-bytes'], 1_000_000_000),
    ...(values['api-key'] !== undefined && { apiKeys: values['api-key'] }),
    ...(values['record-file'] !== undefined && { recordFile: values['record-file'] }),
  });
  for (const [name, address] of Object.entries(simulator.addresses)) process.stdout.write(`${name} ${address}\n`);
  process.stdout.write(`search ${simulator.search.url}\n`);
  process.stdout.write(`control ${simulator.controlUrl}\n`);
  const stop = (): void => void simulator.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

function readNumber(name: string, text: string | undefined, max: number): number {
  if (text === undefined) return 0;
  if (!/^\d{1,10}$/.test(text) || Number(text) > max) throw new Error(`--${name} must be a whole number from 0 to ${max}, not "${text}"`);
  return Number(text);
}

import type { Command } from 'commander';

import { type AskedInterface, askedInterfaces, type Explanation, explainModel } from '../../admin/resources/models/explain-model.ts';
import { getModel, listModels } from '../../admin/resources/models/model-operations.ts';
import { type TestedInterface, testModel } from '../../admin/resources/models/test-model.ts';
import { type Environment, StartError } from '../environment.ts';
import { findKey } from './find-keys.ts';
import { awaitOperation, interruption } from './remote/await-operation.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type JsonOption = RemoteOption & { readonly json?: boolean };
type ExplainOptions = JsonOption & {
  readonly as?: string;
  readonly stream?: boolean;
  readonly images?: boolean;
  readonly tools?: boolean;
  readonly inputTokens?: string;
  readonly outputTokensMax?: string;
  readonly key?: string;
  readonly user?: string;
};
type TestOptions = JsonOption & { readonly key: string; readonly as?: readonly string[]; readonly stream: boolean };

/** Adds `weir models …`: the models that clients can call, where their calls go, and tests. */
export function addModelCommands(program: Command, environment: Environment): void {
  const models = program.command('models').description('models that clients can call: where their calls go and why, and tests');
  addRemoteOption(models.command('list'))
    .description('lists the models of running gateways, and where their calls go')
    .option('--upstream <name>', 'only those with a target at this upstream')
    .option('--json', 'as JSON')
    .action((options: JsonOption & { readonly upstream?: string }) => list(environment, options));
  addRemoteOption(models.command('show'))
    .description('prints a model with its targets, limits and calls of the last 24 hours, as JSON')
    .argument('<model>', 'its name')
    .action(async (name: string, place: RemoteOption) => {
      const reading = withService(environment, { ...place, reads: true }, (service) => service.call(getModel, { params: { name } }));
      const unknown = (): StartError => new StartError(`no running gateway has a model "${name}"; weir models list shows them`);
      printItems((await wordRefusal(reading, 'not_found', unknown)).body);
    });
  addRemoteOption(models.command('explain'))
    .description('says where a call of this name would go now, which targets are left out and why, what is lost, and its cost')
    .argument('<model>', 'as clients ask for it')
    .option('--as <interface>', `how it is asked: ${askedInterfaces.join(', ')}`)
    .option('--stream', 'the reply is a stream')
    .option('--images', 'the message has an image')
    .option('--tools', 'a tool is offered')
    .option('--input-tokens <count>', 'about how long the input is')
    .option('--output-tokens-max <count>', 'the limit of the output')
    .option('--key <key>', 'with the rights of this key: its id, or user/name')
    .option('--user <name>', 'with the limits of this user')
    .option('--json', 'as JSON')
    .action((name: string, options: ExplainOptions) => explain(environment, name, options));
  addRemoteOption(models.command('test'))
    .description('calls a model once for each interface with the rights of a key, which pays for it. Exit code 0: all answered, 1: not')
    .argument('<model>', 'its name')
    .requiredOption('--key <key>', 'the key that pays: its id, or user/name')
    .option('--as <interfaces...>', `only these interfaces: ${askedInterfaces.join(', ')}`)
    .option('--no-stream', 'asks for whole replies, not for streams')
    .option('--json', 'as JSON')
    .action((name: string, options: TestOptions) => test(environment, name, options));
}

async function list(environment: Environment, options: JsonOption & { readonly upstream?: string }): Promise<void> {
  const { json, upstream, ...place } = options;
  const query = upstream === undefined ? {} : { upstream };
  const items = await withService(environment, { ...place, reads: true }, (service) => listAll(service, listModels, query));
  if (json === true) return printItems(items);
  printTable(
    ['MODEL', 'TARGETS', 'SHARE', 'INTERFACES'],
    items.map(({ name, targets, interfaces }) => [
      inert(name),
      targets.map(({ id }) => inert(id)).join(' '),
      targets.map(({ tier, share }) => `${tier}:${Math.round(share * 100)}%`).join(' '),
      interfaces.map((each) => `${each.interface}=${each.way}`).join(' '),
    ]),
  );
}

function readInterface(option: string, text: string): AskedInterface {
  const known = askedInterfaces.find((each) => each === text);
  if (known === undefined) throw new StartError(`${option} must be one of ${askedInterfaces.join(', ')}; got "${text.slice(0, 100)}"`);
  return known;
}

function readTokens(option: string, text: string): number {
  if (!/^[1-9][0-9]{0,6}$/.test(text))
    throw new StartError(`${option} must be a number of tokens from 1 to 1000000; got "${text.slice(0, 100)}"`);
  return Number(text);
}

async function explain(environment: Environment, name: string, options: ExplainOptions): Promise<void> {
  const { as, stream, images, tools, inputTokens, outputTokensMax, key, user, json, ...place } = options;
  const facts = {
    ...(as !== undefined && { interface: readInterface('--as', as) }),
    ...(stream === true && { stream }),
    ...(images === true && { images }),
    ...(tools === true && { tools }),
    ...(inputTokens !== undefined && { input_tokens: readTokens('--input-tokens', inputTokens) }),
    ...(outputTokensMax !== undefined && { output_tokens_max: readTokens('--output-tokens-max', outputTokensMax) }),
    ...(user !== undefined && { user }),
  };
  const { body } = await withService(environment, place, async (service) => {
    const id = key === undefined ? {} : { key_id: (await findKey(service, key)).id };
    const asking = service.call(explainModel, { params: { name }, body: { ...facts, ...id } });
    return await wordRefusal(asking, 'not_found', () => new StartError(`there is no user "${user ?? ''}"; weir users list shows them`));
  });
  if (json === true) return printItems(body);
  printExplanation(body);
}

function printExplanation({ path, node, targets, left_out: leftOut, refusal, cost, credit }: Explanation): void {
  console.log(`POST ${inert(path)}, seen by ${inert(node)}`);
  if (refusal !== null) console.log(`refused: ${refusal.code}: ${inert(refusal.message)}`);
  if (targets.length > 0)
    printTable(
      ['ORDER', 'TARGET', 'STATE', 'SHARE', 'INTERFACE', 'EXPECTED USD', 'AT MOST USD', 'CHANGES'],
      targets.map(({ id, state, share, way, notes, expected, maximum }, index) => [
        String(index + 1),
        inert(id),
        state,
        share === null ? '-' : `${Math.round(share * 100)}%`,
        way ?? '-',
        expected.usd,
        maximum.usd,
        notes === null ? 'unknown without the media' : notes.map(({ kind, field }) => inert(`${kind} ${field}`)).join(', ') || '-',
      ]),
    );
  for (const { id, detail } of leftOut) console.log(`left out: ${inert(id)}: ${inert(detail)}`);
  if (cost !== null)
    console.log(`cost: ${cost.minimum.usd} to ${cost.maximum.usd} USD; held: ${cost.held?.usd ?? 'nothing'}; credit: ${credit}`);
}

async function test(environment: Environment, name: string, { key, as, stream, json, ...place }: TestOptions): Promise<void> {
  const interfaces = as?.map((each) => readInterface('--as', each));
  const signal = interruption();
  const ended = await withService(environment, place, async (service) => {
    const { id } = await findKey(service, key);
    const body = { key_id: id, stream, ...(interfaces !== undefined && { interfaces }) };
    const started = (await service.call(testModel, { params: { name }, body })).body;
    return await awaitOperation(service, started, { signal });
  });
  // Written by the gateway's operation; null if it was cancelled before it began.
  const calls = (ended.result as { readonly calls: readonly TestedInterface[] } | null)?.calls ?? [];
  process.exitCode = signal.aborted ? 130 : calls.some(({ verdict }) => verdict === 'failed' || verdict === 'refused') ? 1 : 0;
  if (json === true) return printItems(calls);
  printTable(
    ['INTERFACE', 'RESULT', 'SERVED BY', 'FIRST BYTE MS', 'TOTAL MS', 'USD', 'CALL', 'CHANGES OR PROBLEM'],
    calls.map((call) => [
      call.interface,
      call.verdict,
      inert(call.served_by ?? call.target ?? '-'),
      String(call.first_byte_ms ?? '-'),
      String(call.total_ms ?? '-'),
      call.amount?.usd ?? '-',
      call.call_id ?? '-',
      inert(call.detail ?? (call.notes.map(({ kind, field }) => `${kind} ${field}`).join(', ') || '-')),
    ]),
  );
}

import type { Command } from 'commander';

import { exportConfig, getLayer, listLayers, publishConfigLayer } from '../../admin/resources/config/layer-operations.ts';
import { createLayerOpener } from '../../control/layers/layer-seal.ts';
import { loadStoreKey } from '../assembly/load-store-key.ts';
import { findOwnUpstreams } from '../config/build-settings.ts';
import { exportConfigFile } from '../config/export-config.ts';
import { loadConfig } from '../config/load-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { checkConfig } from './check-config.ts';
import { checkLayer, type LayerCheckOptions } from './check-layer.ts';
import { addGatewayConfigCommands, checkConfigThere } from './config-on-gateways.ts';
import { addCheckOptions } from './doctor.ts';
import { readLayerFile, refuseLayerFile } from './layer-file.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable, readStore } from './with-accounts.ts';

type ChangeOptions = RemoteOption & { readonly note?: string; readonly dropModels?: string };

/**
 * Adds `weir config …`: the file, and the layers that are published below it.
 * @param located the environment with the file in use; throws StartError if the named file does not exist
 */
export function addConfigCommands(program: Command, located: () => Environment): void {
  const config = program.command('config').description('the configuration file, and the layers that are published below it');
  addRemoteOption(config.command('check'))
    .description('reads the configuration, names every problem with its position, and says where each model goes')
    .action((place: RemoteOption) => (place.remote === undefined ? checkConfig(located()) : checkConfigThere(located(), place)));
  addGatewayConfigCommands(config, located);
  addRemoteOption(config.command('layers'))
    .description('lists published layers, the newest first, with the gateways that cannot use the newest')
    .option('--json', 'as JSON')
    .action((options: RemoteOption & { readonly json?: boolean }) => list(located(), options));
  addRemoteOption(config.command('layer'))
    .description('prints a published layer, as JSON; secrets are masked')
    .argument('<number>', 'its number')
    .action((number: string, place: RemoteOption) => printLayer(located(), number, place));
  const check = addRemoteOption(config.command('check-layer'))
    .description('lets a running gateway check the upstreams of a file before it is published, as weir doctor does; publishes nothing')
    .argument('<file>', 'as for weir config publish')
    .option(
      '--upstream <name>',
      'only this upstream; may be repeated. Default: those that the file changes',
      (name: string, before: readonly string[]) => [...before, name],
      [],
    );
  addCheckOptions(check).action((file: string, options: LayerCheckOptions) => checkLayer(located(), file, options));
  addChangeOptions(config.command('publish'))
    .description('publishes upstreams, models and limits.perKey for all gateways, which take them within two seconds')
    .argument('<file>', 'YAML in the form of weir.yaml; ${NAME} is replaced from the environment of this command')
    .action((file: string, options: ChangeOptions) => publish(located(), file, options));
  addChangeOptions(config.command('rollback'))
    .description('publishes an earlier layer again')
    .argument('<number>', 'its number')
    .action((number: string, options: ChangeOptions) => rollBack(located(), number, options));
  addRemoteOption(config.command('export'))
    .description('prints the file and the newest layer as one weir.yaml')
    .option('--secrets', 'with credentials instead of names of variables; only on this machine')
    .action((options: RemoteOption & { readonly secrets?: boolean }) => printWhole(located(), options));
}

function addChangeOptions(command: Command): Command {
  return addRemoteOption(command)
    .option('--note <text>', 'why')
    .option('--drop-models <names>', 'models in use that may lose their last target, with commas');
}

async function list(environment: Environment, { json, ...place }: RemoteOption & { readonly json?: boolean }): Promise<void> {
  const items = await withService(environment, { ...place, reads: true }, (service) => listAll(service, listLayers, {}));
  if (json === true) return printItems(items);
  printTable(
    ['NO', 'TIME', 'WHO', 'GATEWAYS', 'PROBLEMS', 'NOTE'],
    items.map(({ number, published_at, actor, used_by, problems, restored, note }) => [
      String(number),
      published_at,
      inert(actor),
      String(used_by.length),
      problems.map(({ node, detail }) => inert(`${node}: ${detail}`)).join('; ') || '-',
      inert([restored === null ? [] : [`layer ${restored} again`], note ?? []].flat().join('; ')) || '-',
    ]),
  );
}

const readChange = ({ note, dropModels }: ChangeOptions) => ({
  ...(note !== undefined && { note }),
  ...(dropModels !== undefined && { drop_models: dropModels.split(',').map((name) => name.trim()) }),
});

async function publish(environment: Environment, file: string, { remote, ...options }: ChangeOptions): Promise<void> {
  const read = readLayerFile(file, environment.variable);
  const place = remote === undefined ? {} : { remote };
  const { body } = await withService(environment, place, (service) =>
    service
      .call(publishConfigLayer, { body: { layer: read.layer, ...readChange(options) } })
      .catch((error: unknown) => refuseLayerFile(error, read)),
  );
  console.log(`published as layer ${body.number}; gateways take it within two seconds`);
}

/** @throws StartError if the text is not the number of a layer */
function requireNumber(text: string): void {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new StartError(`the number of a layer must be an integer from 1, but got "${text.slice(0, 100)}"`);
}

async function printLayer(environment: Environment, number: string, place: RemoteOption): Promise<void> {
  requireNumber(number);
  const reading = withService(environment, { ...place, reads: true }, (service) => service.call(getLayer, { params: { number } }));
  const unknown = () => new StartError(`there is no layer ${number}; weir config layers shows them`);
  printItems((await wordRefusal(reading, 'not_found', unknown)).body);
}

async function rollBack(environment: Environment, number: string, { remote, ...options }: ChangeOptions): Promise<void> {
  requireNumber(number);
  const place = remote === undefined ? {} : { remote };
  const { body } = await withService(environment, place, (service) =>
    service
      .call(publishConfigLayer, { body: { from: Number(number), ...readChange(options) } })
      .catch((error: unknown) => refuseLayerFile(error)),
  );
  console.log(`published layer ${number} again, as layer ${body.number}; gateways take it within two seconds`);
}

async function printWhole(environment: Environment, { secrets, ...place }: RemoteOption & { readonly secrets?: boolean }): Promise<void> {
  if (secrets === true && place.remote !== undefined)
    throw new StartError('--secrets is only possible on this machine: a console cannot open credentials');
  if (secrets !== true) {
    const { body } = await withService(environment, { ...place, reads: true }, (service) => service.call(exportConfig));
    console.log(body.yaml.trimEnd());
    return;
  }
  const layer = await readStore(environment, (store) => store.newestConfigLayer());
  const opener = createLayerOpener(loadStoreKey(environment));
  const { files } = loadConfig(environment.configPath, environment);
  const opened = layer === undefined ? undefined : { number: layer.number, document: opener.open(layer) };
  const environmentUpstreams = findOwnUpstreams({}, environment.variable)?.upstreams ?? {};
  console.log(exportConfigFile(files.text, opened, { environmentUpstreams, withSecrets: true }).trimEnd());
}

import { createLink } from '../../admin/resources/people/people-operations.ts';
import { loadConfig } from '../config/load-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { formatUrl } from '../programs/listen.ts';
import { commandAuthor } from './name-actor.ts';
import { findPerson } from './remote/find-person.ts';
import { type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { withPeople } from './with-people.ts';

type LinkOptions = RemoteOption & { readonly person?: string };

/**
 * Prints a link that signs a person in, once. Without a person it is for the oldest operator, or for a new one if there
 * is no operator: a person with access to the data directory is an operator.
 */
export async function printConsoleLink(environment: Environment, { person: reference, remote }: LinkOptions): Promise<void> {
  if (remote !== undefined && reference === undefined)
    throw new StartError('--remote needs --person: only a local command makes an operator');
  const consoleUrl = remote === undefined ? addressOf(environment) : '';
  const operator = reference === undefined ? await makeOperator(environment) : undefined;
  await withService(environment, { consoleUrl, ...(remote !== undefined && { remote }) }, async (service) => {
    const person = await findPerson(service, operator ?? reference ?? '');
    if (person.disabled_at !== null)
      throw new StartError(`${inert(person.name)} is disabled; weir people update ${person.id} --enable lets it in again`);
    const { url, expires_at } = (await service.call(createLink, { params: { id: person.id } })).body;
    console.log(url);
    console.error(`signs ${inert(person.name)} (${person.role}) in, once, until ${expires_at}`);
  });
}

const makeOperator = (environment: Environment): Promise<string> =>
  withPeople(environment, async ({ people }) => (await people.ensureOperator(commandAuthor())).id);

/** The address of a console that runs with this configuration. */
function addressOf(environment: Environment): string {
  const { configPath, host, consolePort } = environment;
  const { publicUrl } = loadConfig(configPath, environment).config.console ?? {};
  if (publicUrl !== undefined) return publicUrl;
  if (consolePort === undefined) throw new StartError('WEIR_CONSOLE_PORT is off: there is no console that a link could open');
  if (consolePort === 0) throw new StartError('WEIR_CONSOLE_PORT is 0, so the port is not known; set it to the port of the ready line');
  return formatUrl(host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, consolePort);
}

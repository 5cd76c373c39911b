import { loadConfig } from '../config/load-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { formatUrl } from '../programs/listen.ts';
import { commandAuthor } from './name-actor.ts';
import { inert } from './usage/terminal-text.ts';
import { findPerson, withPeople } from './with-people.ts';

/**
 * Prints a link that signs a person in, once. Without a person it is for the oldest operator, or for a new one
 * if there is no operator: a person with access to the data directory is an operator.
 */
export async function printConsoleLink(environment: Environment, { person: reference }: { readonly person?: string }): Promise<void> {
  const address = addressOf(environment);
  await withPeople(environment, async (each) => {
    const person = reference === undefined ? await each.people.ensureOperator(commandAuthor()) : await findPerson(each, reference);
    const code = await each.signIns.createCode(person.id, commandAuthor());
    if (code === undefined)
      throw new StartError(`${inert(person.name)} is disabled; weir people update ${person.id} --enable lets it in again`);
    console.log(`${address}/#in=${code.code}`);
    console.error(`signs ${inert(person.name)} (${person.role}) in, once, until ${new Date(code.expiresAtMs).toISOString()}`);
  });
}

/** The address of a console that runs with this configuration. */
function addressOf({ configPath, variable, host, consolePort }: Environment): string {
  const { publicUrl } = loadConfig(configPath, variable).config.console ?? {};
  if (publicUrl !== undefined) return publicUrl;
  if (consolePort === undefined) throw new StartError('WEIR_CONSOLE_PORT is off: there is no console that a link could open');
  if (consolePort === 0) throw new StartError('WEIR_CONSOLE_PORT is 0, so the port is not known; set it to the port of the ready line');
  return formatUrl(host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, consolePort);
}

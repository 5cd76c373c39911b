import type { Command } from 'commander';

import {
  deleteConversation,
  getConversation,
  listConversations,
  readConversation,
} from '../../admin/resources/stored/conversation-operations.ts';
import {
  deleteFile,
  deleteVectorStore,
  getFile,
  getVectorStore,
  listFiles,
  listVectorStores,
  readFile,
} from '../../admin/resources/stored/file-operations.ts';
import { deleteResponse, getResponse, listResponses, readResponse } from '../../admin/resources/stored/response-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { type Environment, StartError } from '../environment.ts';
import { readRowsMax, rowsMaxMost } from './read-limit.ts';
import { contentDenied, wordRefusal } from './remote/problems.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';
import { writeContent } from './write-content.ts';

type Listed = { readonly user?: string; readonly vectorStore?: string; readonly conversation?: string };
type ListOptions = RemoteOption & Listed & { readonly limit: string; readonly json?: boolean };

/** A kind of objects that users have stored, and the operations on it. */
type Kind<Item> = {
  readonly name: string;
  readonly title: string;
  readonly list: (service: AdminService, asked: Listed, rowsMax: number) => Promise<readonly Item[]>;
  /** Further filters, as options. */
  readonly filters?: readonly (readonly [flags: string, description: string])[];
  readonly columns: readonly string[];
  readonly cells: (item: Item) => readonly string[];
  readonly show: (service: AdminService, id: string) => Promise<unknown>;
  /** Absent if the kind has no content of its own. */
  readonly content?: (service: AdminService, id: string) => AsyncGenerator<string | Uint8Array>;
  readonly remove: (service: AdminService, id: string) => Promise<unknown>;
};

const ofUser = ({ user }: Listed) => (user === undefined ? {} : { user });
const kept = (expires: string | null): string => expires ?? 'until deleted';

const responses: Kind<NonNullable<typeof getResponse.types>['reply']> = {
  name: 'responses',
  title: 'stored responses',
  list: (service, { conversation, ...asked }, rowsMax) =>
    listAll(service, listResponses, { ...ofUser(asked), ...(conversation !== undefined && { conversation_id: conversation }) }, rowsMax),
  filters: [['--conversation <id>', 'only those of this conversation']],
  columns: ['STATUS', 'BYTES', 'EXPIRES', 'CONTINUES'],
  cells: (item) => [item.status, String(item.bytes), item.expires_at, item.conversation_id ?? item.previous_response_id ?? '-'],
  show: async (service, id) => (await service.call(getResponse, { params: { id } })).body,
  content: (service, id) => service.stream(readResponse, { params: { id } }),
  remove: (service, id) => service.call(deleteResponse, { params: { id } }),
};

const conversations: Kind<NonNullable<typeof getConversation.types>['reply']> = {
  name: 'conversations',
  title: 'conversation objects',
  list: (service, asked, rowsMax) => listAll(service, listConversations, ofUser(asked), rowsMax),
  columns: ['ITEMS', 'BYTES', 'EXPIRES'],
  cells: (item) => [String(item.items), String(item.bytes), kept(item.expires_at)],
  show: async (service, id) => (await service.call(getConversation, { params: { id } })).body,
  content: (service, id) => service.stream(readConversation, { params: { id } }),
  remove: (service, id) => service.call(deleteConversation, { params: { id } }),
};

const files: Kind<NonNullable<typeof getFile.types>['reply']> = {
  name: 'files',
  title: 'files of users',
  list: (service, { vectorStore, ...asked }, rowsMax) =>
    listAll(service, listFiles, { ...ofUser(asked), ...(vectorStore !== undefined && { vector_store_id: vectorStore }) }, rowsMax),
  filters: [['--vector-store <id>', 'only those in this vector store']],
  columns: ['PURPOSE', 'TYPE', 'BYTES', 'EXPIRES', 'NAME'],
  cells: (item) => [inert(item.purpose), inert(item.type), String(item.bytes), kept(item.expires_at), inert(item.filename ?? '-')],
  show: async (service, id) => (await service.call(getFile, { params: { id } })).body,
  content: (service, id) => service.stream(readFile, { params: { id } }),
  remove: (service, id) => service.call(deleteFile, { params: { id } }),
};

const vectorStores: Kind<NonNullable<typeof getVectorStore.types>['reply']> = {
  name: 'vector-stores',
  title: 'vector stores',
  list: (service, asked, rowsMax) => listAll(service, listVectorStores, ofUser(asked), rowsMax),
  columns: ['FILES', 'BYTES', 'LAST USED', 'EXPIRES', 'NAME'],
  cells: (item) => [String(item.files.completed), String(item.bytes), item.last_used_at, kept(item.expires_at), inert(item.name ?? '-')],
  show: async (service, id) => (await service.call(getVectorStore, { params: { id } })).body,
  remove: (service, id) => service.call(deleteVectorStore, { params: { id } }),
};

/** Adds `weir stored …`: what users have stored with the interfaces, for people who administer it. */
export function addStoredCommands(program: Command, environment: Environment): void {
  const stored = program.command('stored').description('responses, conversations, files and vector stores that users have stored');
  addKind(stored, environment, responses);
  addKind(stored, environment, conversations);
  addKind(stored, environment, files);
  addKind(stored, environment, vectorStores);
}

function addKind<Item extends { readonly id: string; readonly user: string; readonly created_at: string }>(
  stored: Command,
  environment: Environment,
  kind: Kind<Item>,
): void {
  const { name, title } = kind;
  const missing = (id: string) => () => new StartError(`there is no object "${id}" here; weir stored ${name} list shows them`);
  const command = stored.command(name).description(title);
  const list = addRemoteOption(command.command('list'))
    .description(`lists ${title}, newest first, without their content`)
    .option('--user <name>', "only this user's");
  for (const [flags, description] of kind.filters ?? []) list.option(flags, description);
  list
    .option('--limit <rows>', `at most so many, up to ${rowsMaxMost}`, '50')
    .option('--json', 'as JSON')
    .action((options: ListOptions) => printList(environment, kind, options));
  addRemoteOption(command.command('show'))
    .description('prints one without its content, as JSON')
    .argument('<id>')
    .action(async (id: string, place: RemoteOption) => {
      const reading = withService(environment, { ...place, reads: true }, (service) => kind.show(service, id));
      printItems(await wordRefusal(reading, 'not_found', missing(id)));
    });
  const { content } = kind;
  if (content !== undefined)
    addRemoteOption(command.command('download'))
      .description('writes the content of one; needs console.readContent, and is in the audit log')
      .argument('<id>')
      .argument('<file>', 'a new file, or - for standard output')
      .action(async (id: string, file: string, place: RemoteOption) => {
        const writing = withService(environment, { ...place, readsContent: true }, (service) => writeContent(content(service, id), file));
        await wordRefusal(wordRefusal(writing, 'not_found', missing(id)), 'permission_required', contentDenied);
        if (file !== '-') console.error(`wrote ${file}`);
      });
  addRemoteOption(command.command('delete'))
    .description('deletes one with its content')
    .argument('<id>')
    .action(async (id: string, place: RemoteOption) => {
      await wordRefusal(
        withService(environment, place, (service) => kind.remove(service, id)),
        'not_found',
        missing(id),
      );
      console.error(`deleted ${id}`);
    });
}

async function printList<Item extends { readonly id: string; readonly user: string; readonly created_at: string }>(
  environment: Environment,
  kind: Kind<Item>,
  { limit, json, remote, ...asked }: ListOptions,
): Promise<void> {
  const rowsMax = readRowsMax(limit);
  const place = { reads: true, ...(remote !== undefined && { remote }) };
  const items = await withService(environment, place, (service) => kind.list(service, asked, rowsMax));
  if (json === true) return printItems(items);
  printTable(
    ['ID', 'CREATED', 'USER', ...kind.columns],
    items.map((item) => [item.id, item.created_at, inert(item.user), ...kind.cells(item)]),
  );
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import { readLogCalls, type LogCall } from './read-log-calls.ts';

/**
 * Folders whose messages are described in `checks/logs/<folder>.yaml`. Those of the others follow when they are
 * rewritten.
 */
export const describedFolders = [
  'admin',
  'accounts',
  'alerts',
  'audit',
  'billing',
  'control',
  'content',
  'conversations',
  'gateway',
  'main',
  'monitor',
  'platform',
  'store',
  'tasks',
  'tools',
] as const;

/** Computed messages, by file: the words stand elsewhere. */
export const computedMessages: Readonly<Record<string, string>> = {
  'src/monitor/refuse.ts': 'The message of the error that the caller received, for every answer of 500 and above.',
};

type Meaning = { readonly meaning: string; readonly action: string };

/** The catalogue of a folder, by message. */
export function readMeanings(folder: string): ReadonlyMap<string, Meaning> {
  const path = join(import.meta.dirname, 'logs', `${folder}.yaml`);
  return new Map(Object.entries((parse(readFileSync(path, 'utf8')) ?? {}) as Record<string, Meaning>));
}

/** What each field means. Every field that a call names must be here, so that each has one spelling. */
export function readFields(): ReadonlyMap<string, string> {
  return new Map(Object.entries(parse(readFileSync(join(import.meta.dirname, 'logs/fields.yaml'), 'utf8')) as Record<string, string>));
}

const code = (text: string): string => `\`${text}\``;

function rowOf(message: string, calls: readonly LogCall[], { meaning, action }: Meaning): string {
  const levels = [...new Set(calls.map(({ level }) => level))].toSorted().join(', ');
  const fields = [...new Set(calls.flatMap((call) => call.fields))].filter((name) => name !== '...').toSorted();
  return `| ${code(message)} | ${levels} | ${fields.map(code).join(', ')} | ${meaning} | ${action} |`;
}

function tableOf(folder: string): readonly string[] {
  const calls = readLogCalls(folder);
  const meanings = [...readMeanings(folder)];
  if (meanings.length === 0) return [];
  const rows = meanings.map(([message, meaning]) =>
    rowOf(
      message,
      calls.filter((call) => call.message === message),
      meaning,
    ),
  );
  return [`## ${folder}`, '', '| Message | Level | Fields | Meaning | What to do |', '|---|---|---|---|---|', ...rows.toSorted(), ''];
}

/** docs/reference/logs.md */
export function writeLogsPage(note: string): string {
  return [
    '# Log messages',
    '',
    note,
    '',
    'Weir logs one JSON object per line to standard error ([how to read it](../guide/observe.md)). `msg` is one of the',
    'messages below: an event with its object. Values are fields of their own, never part of the message, so a message',
    'can be searched for and counted. `level` is 20 for debug, 30 for info, 40 for warn and 50 for error.',
    '',
    ...describedFolders.flatMap(tableOf),
    ...Object.entries(computedMessages).map(([path, meaning]) => `Messages of \`${path}\` are not fixed.\n${meaning}`),
    '',
    '## Fields',
    '',
    '| Field | Meaning |',
    '|---|---|',
    ...[...readFields()].map(([name, meaning]) => `| ${code(name)} | ${meaning} |`).toSorted(),
    '',
  ].join('\n');
}

import { join } from 'node:path';

import type { UpstreamDialectId } from '../../src/dialects/dialect-id.ts';
import { coverPairs } from '../support/cover-pairs.ts';
import { isLong } from '../support/scale.ts';
import { translationCases } from './cases/cases.ts';
import { translationClients } from './clients/clients.ts';
import { type TranslationClient, Inexpressible } from './conversation.ts';
import type { Outcome } from './run-case.ts';
import type { TranslationCase } from './translation-case.ts';
import { everyUpstream } from './upstreams/upstreams.ts';

/** The page with the matrix between its two marks; the rest of it is written by hand. */
export const matrixPage = join(import.meta.dirname, '../../docs/reference/translation.md');

const begin = '<!-- Observed by the tests: written by `node conformance/translation/write-matrix.ts`. Do not edit. -->';
const end = '<!-- The end of what the tests have observed. -->';

/** The observed outcomes, by client, upstream and case. */
export type Observations = {
  readonly note: (client: TranslationClient, to: UpstreamDialectId, one: TranslationCase, outcome: Outcome) => void;
  /**
   * The outcomes of a cell: one, unless streams differ from whole replies. Empty for combinations that were not tested.
   */
  readonly of: (client: TranslationClient, to: UpstreamDialectId, one: TranslationCase) => readonly Outcome[];
};

export function createObservations(): Observations {
  const cells = new Map<string, Set<Outcome>>();
  const key = (client: TranslationClient, to: UpstreamDialectId, { section, name }: TranslationCase): string =>
    [client.dialect, to, section, name].join(' / ');
  return {
    note: (client, to, one, outcome) => {
      const cell = cells.get(key(client, to, one)) ?? new Set();
      cells.set(key(client, to, one), cell.add(outcome));
    },
    of: (client, to, one) => [...(cells.get(key(client, to, one)) ?? [])],
  };
}

/** Whether a case applies to a client: its dialect can express it, and the case includes it. */
export function isSayable(client: TranslationClient, { conversation, only }: TranslationCase): boolean {
  if (only?.includes(client.dialect) === false) return false;
  try {
    client.write(conversation, 'model', false);
    return true;
  } catch (error) {
    if (error instanceof Inexpressible) return false;
    throw error;
  }
}

/** The forms in which a case is tested with a client. */
export function* runsOf(
  client: TranslationClient,
  one: TranslationCase,
): Generator<{ readonly to: UpstreamDialectId; readonly stream: boolean }> {
  for (const to of one.upstreams ?? everyUpstream) {
    if (one.without?.includes(to) === true) continue;
    if (one.skipsPassthrough === true && to === client.dialect) continue;
    for (const stream of one.isStreamed === true ? [true] : [false, true]) yield { to, stream };
  }
}

/** Replies are always carried; the suite checks their translation, and the table does not show it. */
const isTabled = ({ section, upstreams }: TranslationCase): boolean => section !== 'Replies' && upstreams === undefined;

const titles: Readonly<Record<UpstreamDialectId, string>> = {
  'anthropic-messages': 'Messages',
  'openai-responses': 'Responses',
  'openai-chat': 'Chat completions',
  'gemini-generate-content': 'Generate content',
  'bedrock-converse': 'Converse',
};

const rowOf = ({ section, name }: TranslationCase): string => `${section}: ${name}`;

const casesOf = (client: TranslationClient): readonly TranslationCase[] =>
  translationCases.filter((one) => isTabled(one) && isSayable(client, one));

/** One case of a client at an upstream, whole or streamed. */
export type Run = {
  readonly client: TranslationClient;
  readonly one: TranslationCase;
  readonly to: UpstreamDialectId;
  readonly stream: boolean;
};

/** Every run that can be said, before a release (WEIR_LONG=1). */
const allRuns = (): readonly Run[] =>
  translationClients.flatMap((client) =>
    translationCases
      .filter((one) => isSayable(client, one))
      .flatMap((one) =>
        runsOf(client, one)
          .map((form) => ({ client, one, ...form }))
          .toArray(),
      ),
  );

/**
 * The runs of a form of the suite. The usual one has each case with each client and with each upstream. The deep one
 * has every cell of the matrix, whole and streamed in turn.
 */
export function chooseRuns(form: 'usual' | 'deep'): readonly Run[] {
  const all = allRuns();
  const cellOf = ({ client, one, to }: Run): readonly string[] => [client.dialect, rowOf(one), to];
  if (isLong) return all;
  if (form === 'usual') return coverPairs(all, (run) => [...cellOf(run), String(run.stream)]);
  const cells = Map.groupBy(all, (run) => cellOf(run).join(' / '));
  return [...cells.values()].flatMap((own, at) => own.slice(at % own.length).slice(0, 1));
}

/** The rows of each client's table. */
export const tabledCases = (): ReadonlyMap<string, readonly string[]> =>
  new Map(translationClients.map((client) => [client.title, casesOf(client).map(rowOf)]));

function renderClient(client: TranslationClient, observations: Observations): readonly string[] {
  const others = everyUpstream.filter((to) => to !== client.dialect);
  const rows = casesOf(client).map((one) => {
    const cells = others.map((to) => observations.of(client, to, one).join(' or ') || 'not tried');
    return `| ${rowOf(one)} | ${cells.join(' | ')} |`;
  });
  return [
    `### A client of ${client.title}`,
    '',
    `| It says | ${others.map((to) => `to ${titles[to]}`).join(' | ')} |`,
    `|---|${others.map(() => '---|').join('')}`,
    ...rows,
    '',
  ];
}

/** The tables of all clients. */
function renderMatrix(observations: Observations): string {
  return [begin, '', ...translationClients.flatMap((client) => renderClient(client, observations)), end].join('\n');
}

/** The observed outcomes that are not in their cells of the page. */
export function findContradictions(page: string, observations: Observations): readonly string[] {
  return translationClients.flatMap((client) => {
    const [, section = ''] = page.split(`### A client of ${client.title}\n`);
    const lines = section.split('\n### ')[0]?.split('\n') ?? [];
    const others = everyUpstream.filter((to) => to !== client.dialect);
    return casesOf(client).flatMap((one) => {
      const [, ...cells] = (lines.find((line) => line.startsWith(`| ${rowOf(one)} | `)) ?? '').slice(2, -2).split(' | ');
      return others.flatMap((to, at) =>
        observations
          .of(client, to, one)
          .filter((outcome) => cells[at]?.split(' or ').includes(outcome) !== true)
          .map((outcome) => `${client.title} to ${titles[to]}, ${rowOf(one)}: ${outcome}, and the page has ${cells[at] ?? 'no such row'}`),
      );
    });
  });
}

/** The page with the observed outcomes. Throws if the page has lost its marks. */
export function replaceMatrix(page: string, observations: Observations): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`${matrixPage} has lost the marks around the matrix`);
  return page.slice(0, from) + renderMatrix(observations) + page.slice(to + end.length);
}

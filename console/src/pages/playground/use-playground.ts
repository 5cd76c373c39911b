import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { many, one } from '../../components/search-params.ts';
import { useAddress, useSession } from '../../components/use-page.ts';
import { useUsersFound } from '../../components/use-users-found.ts';
import type { InterfaceId } from '../../playground/conversation.ts';
import { chatInterfaces, interfaceIds } from '../../playground/interfaces/registry.ts';
import { isThinking, type Lane, lanesMax, type Parameters, readLane, readNumber, writeLane } from '../../playground/lanes.ts';
import { isBound, type Payer } from '../../playground/payer.ts';

export const boundDefault = '1';

type Payers = {
  /** All who can pay, or those whose names have what was typed. */
  readonly users: readonly string[] | undefined;
  readonly isWhole: boolean;
  readonly find: (text: string) => void;
  readonly payer: Payer | undefined;
  readonly error: unknown;
};

/** Who can pay, who pays, and how much at most. The payer is undefined while it is not known, and if nobody can pay. */
export function usePayer(): Payers {
  const session = useSession();
  const [search] = useAddress();
  const found = useUsersFound(session.users === null);
  const users = session.users ?? found.users?.map(({ name }) => name);
  const user = one(search, 'user') ?? session.users?.[0] ?? found.oldest?.[0]?.name;
  const most = one(search, 'most') ?? boundDefault;
  return {
    users,
    payer: user === undefined ? undefined : { user, mostUsd: isBound(most) ? most : boundDefault },
    isWhole: session.users !== null || found.isWhole,
    find: found.find,
    error: found.error,
  };
}

export type PlaygroundModel = { readonly name: string; readonly kinds: readonly string[]; readonly passes: readonly string[] };

/** The models of a kind that the payer may call. Models whose kind is not known are among those of chats. */
export function useModels(kind: string): { readonly models: readonly PlaygroundModel[] | undefined; readonly error: unknown } {
  const { payer } = usePayer();
  const { data, error } = useQuery({
    ...question('playground.models', { query: { user: payer?.user ?? '' } }),
    enabled: payer !== undefined,
    staleTime: 60_000,
  });
  const models = data?.items.filter(({ kinds }) => (kinds.length === 0 ? kind === 'chat' : kinds.includes(kind)));
  return { models, error };
}

/** The lane of a model: in an interface that it serves without translation, if there is one. */
function laneFor({ name, passes }: Pick<PlaygroundModel, 'name' | 'passes'>): Lane {
  const by = interfaceIds.find((id) => passes.includes(chatInterfaces[id].book)) ?? 'messages';
  return { by, model: name, stream: true, own: {}, way: 'post', byId: false };
}

type Lanes = {
  readonly lanes: readonly Lane[];
  readonly change: (index: number, change: Partial<Lane>) => void;
  readonly add: () => void;
  readonly remove: (index: number) => void;
};

/** The lanes, which the address holds. Without any there is one, with the first model. */
export function useLanes(models: readonly PlaygroundModel[] | undefined): Lanes {
  const [search, changeAddress] = useAddress();
  const named = many(search, 'lane').flatMap((text) => readLane(text) ?? []);
  const [first] = models ?? [];
  const lanes = (named.length > 0 ? named : [first === undefined ? emptyLane : laneFor(first)]).slice(0, lanesMax);
  const write = (changed: readonly Lane[]): void => changeAddress({ lane: changed.map(writeLane) }, true);
  return {
    lanes,
    change: (index, change) => write(lanes.map((lane, at) => (at === index ? { ...lane, ...change } : lane))),
    add: () => {
      const used = new Set(lanes.map(({ by }) => by));
      const last = lanes.at(-1) ?? emptyLane;
      // The same model in another interface, or else the same again.
      write([...lanes, { ...last, by: interfaceIds.find((id: InterfaceId) => !used.has(id)) ?? last.by, own: {} }]);
    },
    remove: (index) => write(lanes.filter((_lane, at) => at !== index)),
  };
}

const emptyLane: Lane = { by: 'messages', model: '', stream: true, own: {}, way: 'post', byId: false };

/** The parameters that all lanes share. */
export function useParameters(): Parameters {
  const [search] = useAddress();
  const thinking = one(search, 'think');
  return {
    temperature: readNumber(one(search, 'temp')),
    maxTokens: readNumber(one(search, 'max')),
    thinking: isThinking(thinking) ? thinking : undefined,
  };
}

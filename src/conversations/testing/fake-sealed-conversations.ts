import type {
  ConversationStore,
  ConversationWrite,
  FoundItem,
  SealedConversation,
  SealedItem,
  WriteOutcome,
} from '../conversation-store.ts';

type Row = {
  conversation: SealedConversation;
  items: SealedItem[];
  expiresAtMs: number;
  lock: { holder: string; untilMs: number } | undefined;
};

type ConversationObjectWrite = Exclude<ConversationWrite, { type: `${string}-response` | 'extend-lease' | 'append-events' }>;

export type FakeSealedConversations = {
  readonly write: (write: ConversationObjectWrite) => WriteOutcome;
  readonly reading: Pick<ConversationStore, 'findSealedConversation' | 'listSealedItems' | 'findSealedItem'>;
  readonly findItem: (userName: string, key: string, nowMs: number) => readonly FoundItem[];
  readonly sweep: (nowMs: number, rowsMax: number) => number;
};

/** The conversation objects of the store in memory. */
export function createFakeSealedConversations(): FakeSealedConversations {
  const rows = new Map<string, Row>();
  const name = (userName: string, id: string): string => JSON.stringify([userName, id]);
  const find = ({ userName, id, nowMs }: { readonly userName: string; readonly id: string; readonly nowMs: number }): Row | undefined => {
    const row = rows.get(name(userName, id));
    return row === undefined || row.expiresAtMs <= nowMs ? undefined : row;
  };

  function create({ conversation, items }: Extract<ConversationWrite, { type: 'put-conversation' }>): WriteOutcome {
    const key = name(conversation.userName, conversation.id);
    if (rows.has(key)) return 'refused';
    const row: Row = { conversation, items: [], expiresAtMs: Infinity, lock: undefined };
    touch(row, conversation.createdAtMs);
    rows.set(key, row);
    return append(row, items, Infinity);
  }

  return {
    write: (write) => {
      if (write.type === 'put-conversation') return create(write);
      const row = find(write);
      return row === undefined ? 'unknown' : change(row, write, () => rows.delete(name(write.userName, write.id)));
    },
    reading: {
      findSealedConversation: async (query) => find(query)?.conversation,
      listSealedItems: async (query) => {
        const row = find(query);
        if (row === undefined) return undefined;
        const ordered = query.order === 'asc' ? row.items : row.items.toReversed();
        const cursor = ordered.findIndex(({ key }) => key === query.after);
        if (query.after !== undefined && cursor < 0) return 'bad-cursor';
        const items = ordered.slice(cursor + 1, cursor + 1 + query.limit);
        if (items.reduce((sum, { sealed }) => sum + sealed.length, 0) > query.bytesMax) return 'too-large';
        return { items, hasMore: cursor + 1 + items.length < ordered.length };
      },
      findSealedItem: async (query) => find(query)?.items.find(({ key }) => key === query.key),
    },
    findItem: (userName, key, nowMs) =>
      [...rows.values()]
        .flatMap((row) => {
          const { conversation } = row;
          const item =
            conversation.userName === userName && row.expiresAtMs > nowMs ? row.items.find((each) => each.key === key) : undefined;
          return item === undefined ? [] : [{ key, holderId: conversation.id, part: 'item' as const, sealed: item.sealed }];
        })
        .slice(0, 1),
    sweep: (nowMs, rowsMax) => {
      const expired = [...rows].filter(([, row]) => row.expiresAtMs <= nowMs).slice(0, Math.max(0, rowsMax));
      for (const [key] of expired) rows.delete(key);
      return expired.length;
    },
  };
}

function touch(row: Row, nowMs: number): void {
  row.expiresAtMs = row.conversation.keptMs === undefined ? Infinity : nowMs + row.conversation.keptMs;
}

function append(row: Row, items: readonly SealedItem[], itemsMax: number): WriteOutcome {
  const added = items.filter((item, index) => {
    const isSame = ({ key }: SealedItem): boolean => key === item.key;
    return !row.items.some(isSame) && items.findIndex(isSame) === index;
  });
  if (row.items.length + added.length > itemsMax) return 'refused';
  row.items.push(...added);
  return 'done';
}

function change(row: Row, write: Exclude<ConversationObjectWrite, { type: 'put-conversation' }>, remove: () => void): WriteOutcome {
  switch (write.type) {
    case 'update-conversation':
      row.conversation = { ...row.conversation, head: write.head };
      touch(row, write.nowMs);
      return 'done';
    case 'delete-conversation':
      remove();
      return 'done';
    case 'append-items':
      touch(row, write.nowMs);
      return append(row, write.items, write.itemsMax);
    case 'delete-item': {
      const left = row.items.filter(({ key }) => key !== write.key);
      if (left.length === row.items.length) return 'unknown';
      row.items = left;
      return 'done';
    }
    case 'lock-conversation':
      if (row.lock !== undefined && row.lock.holder !== write.holder && row.lock.untilMs > write.nowMs) return 'refused';
      row.lock = { holder: write.holder, untilMs: write.untilMs };
      return 'done';
    case 'unlock-conversation':
      if (row.lock?.holder !== write.holder) return 'unknown';
      row.lock = undefined;
      return 'done';
  }
}

import { appendAudit } from './audit-operations.ts';
import { accountIdOf, ownersInOrder, type PotOwner } from '../../billing/credits/pots.ts';
import { applyLease, isStranded, leasedOf, type LeaseRow } from '../../billing/credits/apply-lease.ts';
import {
  type CreditNode,
  isSeenDue,
  type LeaseReply,
  type LeaseRequest,
  type LeaseState,
  type LeaseStore,
  nodeAliveMs,
} from '../../billing/credits/credit-store.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readPotBalances, type PotBalances } from './pot-balances.ts';
import { readBigInt, readInteger, readOptionalText, readText } from './read-column.ts';

/**
 * The SQL of leases. Every transaction that changes money of owners of pots locks their accounts until it ends, in the
 * order of ownersInOrder.
 */
export function createLeaseOperations(database: Database): LeaseStore {
  return {
    openCreditNode: async ({ nodeId, sessionId, nowMs }) => {
      const sql = `insert into credit_nodes (node_id, session_id, seen_at_ms) values (?, ?, ?)
        on conflict (node_id) do update set session_id = excluded.session_id, seen_at_ms = excluded.seen_at_ms`;
      await database.run(sql, nodeId, sessionId, Math.floor(nowMs));
    },
    releaseCreditNode: (node) => database.transact((transaction) => releaseNode(transaction, node), 'read-committed'),
    changeLeases: (node, requests) => database.transact((transaction) => changeLeases(transaction, node, requests), 'read-committed'),
    readCreditSignals: (node) => readSignals(database, node),
  };
}

/** Whether this is the current incarnation of the node; it cannot change until the transaction ends. */
async function isCurrentIncarnation(
  database: Database,
  { nodeId, sessionId }: { readonly nodeId: string; readonly sessionId: string },
): Promise<boolean> {
  const sql = `select session_id from credit_nodes where node_id = ? ${database.fragments.forUpdate('credit_nodes')}`;
  const row = await database.first(sql, nodeId);
  return row !== undefined && readText(row, 'session_id') === sessionId;
}

async function releaseNode(
  database: Database,
  { nodeId, sessionId, change }: Parameters<LeaseStore['releaseCreditNode']>[0],
): Promise<number> {
  if (sessionId !== undefined && !(await isCurrentIncarnation(database, { nodeId, sessionId }))) return 0;
  // Without its row, the process learns that its leases have ended, if it is still running.
  if (sessionId === undefined) await database.run('delete from credit_nodes where node_id = ?', nodeId);
  const released = await database.run('delete from credit_leases where node_id = ?', nodeId);
  if (change !== undefined)
    await appendAudit(database, change, { action: 'credits.release_node', subject: `node:${nodeId}`, after: JSON.stringify({ released }) });
  return released;
}

/** Locks the accounts of owners until the transaction ends. */
export async function lockAccounts(database: Database, owners: Iterable<PotOwner>): Promise<void> {
  const sql = `insert into ledger_accounts (account_id, kind, user_name, balance_kusd, balance_nano, postings) values (?, ?, ?, 0, 0, 0)
    on conflict (account_id) do update set postings = ledger_accounts.postings`;
  for (const owner of ownersInOrder(owners)) {
    await database.run(sql, accountIdOf(owner), owner.level, owner.level === 'user' ? owner.userName : null);
  }
}

async function changeLeases(
  database: Database,
  node: CreditNode & { readonly nowMs: number },
  requests: readonly LeaseRequest[],
): Promise<LeaseReply> {
  if (!(await isCurrentIncarnation(database, node))) return { status: 'fenced' };
  await lockAccounts(
    database,
    requests.map(({ pot }) => pot.owner),
  );
  const nodes = await countNodes(database, node);
  const pots = requests.map(({ pot }) => pot);
  const potBalances = await readPotBalances(database, pots);
  const leases: LeaseState[] = [];
  for (const [index, request] of requests.entries()) {
    const balances = potBalances[index];
    if (balances !== undefined) leases.push(await changeLease(database, node, request, { ...balances, nodes }));
  }
  return { status: 'leased', leases };
}

/**
 * Running nodes, this one included. Clocks of several machines differ: a node that was seen in the future counts as
 * running.
 */
async function countNodes(database: Database, { nodeId, nowMs }: { readonly nodeId: string; readonly nowMs: number }): Promise<number> {
  const sql = 'select count(*) as nodes from credit_nodes where node_id <> ? and seen_at_ms > ?';
  const row = await database.first(sql, nodeId, Math.floor(nowMs) - nodeAliveMs);
  return 1 + (row === undefined ? 0 : readInteger(row, 'nodes'));
}

const selectLeases = `select credit_leases.node_id, generation, version, granted_nano_usd, shipped_nano_usd, closing, recalled, session_id, seen_at_ms
  from credit_leases left join credit_nodes on credit_nodes.node_id = credit_leases.node_id where pot_id = ?`;
const writeLease = `insert into credit_leases
    (pot_id, node_id, user_name, generation, version, granted_nano_usd, shipped_nano_usd, closing, recalled)
  values (?, ?, ?, ?, ?, ?, ?, ?, 0)
  on conflict (pot_id, node_id) do update set generation = excluded.generation, version = excluded.version,
    granted_nano_usd = excluded.granted_nano_usd, closing = excluded.closing, recalled = 0`;

async function changeLease(
  database: Database,
  { nodeId, nowMs }: { readonly nodeId: string; readonly nowMs: number },
  request: LeaseRequest,
  { limit, spent, videos, nodes }: PotBalances & { readonly nodes: number },
): Promise<LeaseState> {
  const { id: potId, owner } = request.pot;
  const rows = await database.all(selectLeases, potId);
  const ownRow = rows.find((row) => readText(row, 'node_id') === nodeId);
  const own = ownRow === undefined ? undefined : decodeLease(ownRow);
  const others = rows.filter((row) => row !== ownRow);
  const leasedElsewhere = sumOf(others);
  const stranded = sumOf(others.filter((row) => isRowStranded(row, nowMs)));
  const { row, state, recall } = applyLease(own, request, { limit, spent: spent + videos, leasedElsewhere, stranded, nodes });
  if (row === undefined) {
    if (own !== undefined) await database.run('delete from credit_leases where pot_id = ? and node_id = ?', potId, nodeId);
  } else if (row !== own) {
    const { generation, version, granted, shipped, closing } = row;
    const userName = owner.level === 'user' ? owner.userName : '';
    await database.run(writeLease, potId, nodeId, userName, generation, version, granted, shipped, closing ? 1 : 0);
  }
  if (recall) await database.run('update credit_leases set recalled = 1 where pot_id = ? and node_id <> ? and recalled = 0', potId, nodeId);
  return state;
}

function sumOf(rows: readonly SqlRow[]): bigint {
  return rows.reduce((sum, row) => sum + leasedOf(decodeLease(row)), 0n);
}

function isRowStranded(row: SqlRow, nowMs: number): boolean {
  const sessionId = readOptionalText(row, 'session_id');
  const incarnation = sessionId === undefined ? undefined : { sessionId, seenAtMs: readInteger(row, 'seen_at_ms') };
  return isStranded({ generation: readText(row, 'generation'), recalled: readInteger(row, 'recalled') === 1 }, incarnation, nowMs);
}

function decodeLease(row: SqlRow): LeaseRow {
  return {
    generation: readText(row, 'generation'),
    version: readInteger(row, 'version'),
    granted: readBigInt(row, 'granted_nano_usd'),
    shipped: readBigInt(row, 'shipped_nano_usd'),
    closing: readInteger(row, 'closing') === 1,
  };
}

async function readSignals(
  database: Database,
  { nodeId, sessionId, nowMs }: CreditNode & { readonly nowMs: number },
): ReturnType<LeaseStore['readCreditSignals']> {
  const sql = `select session_id, seen_at_ms,
      (select coalesce(sum(value), 0) from counters where name in ('keys_version', 'credits_version')) as version
    from credit_nodes where node_id = ?`;
  const row = await database.first(sql, nodeId);
  if (row === undefined || readText(row, 'session_id') !== sessionId) return { status: 'fenced' };
  const recalled = await database.all('select pot_id from credit_leases where node_id = ? and recalled = 1', nodeId);
  if (isSeenDue({ seenAtMs: readInteger(row, 'seen_at_ms'), nowMs, isRecalled: recalled.length > 0 }))
    await database.run('update credit_nodes set seen_at_ms = ? where node_id = ? and session_id = ?', Math.floor(nowMs), nodeId, sessionId);
  return { status: 'current', version: readInteger(row, 'version'), recalled: recalled.map((each) => readText(each, 'pot_id')) };
}

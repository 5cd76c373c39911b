import { describe } from 'node:test';

import { accountsSuite } from './accounts-suite.ts';
import { alertSuite } from './alert-suite.ts';
import { archiveSuite } from './archive-suite.ts';
import { auditSinkSuite } from './audit-sink-suite.ts';
import { auditSuite } from './audit-suite.ts';
import { callFactsSuite } from './call-facts-suite.ts';
import { configLayerSuite } from './config-layer-suite.ts';
import { contentSuite } from './content-suite.ts';
import { controlSuite } from './control-suite.ts';
import { conversationSuite } from './conversation-suite.ts';
import { creditSuite } from './credit-suite.ts';
import { groupCreditSuite } from './group-credit-suite.ts';
import { deviceSignInSuite } from './device-sign-in-suite.ts';
import { fileSearchSuite } from './file-search-suite.ts';
import { idempotencySuite } from './idempotency-suite.ts';
import { keySessionSuite } from './key-session-suite.ts';
import { keySuite } from './key-suite.ts';
import { ledgerSuite } from './ledger-suite.ts';
import { imageSuite } from './image-suite.ts';
import { peopleSuite } from './people-suite.ts';
import { playgroundKeySuite } from './playground-key-suite.ts';
import { priceBookSuite } from './price-book-suite.ts';
import { pricedRowSuite } from './priced-row-suite.ts';
import { operationSuite } from './operation-suite.ts';
import { proofSuite } from './proof-suite.ts';
import { answerReadingSuite } from './answer-reading-suite.ts';
import { refusalSuite } from './refusal-suite.ts';
import { statisticsDaysSuite } from './statistics-days-suite.ts';
import { statisticsSuite } from './statistics-suite.ts';
import { reconciliationSuite } from './reconciliation-suite.ts';
import { savedViewSuite } from './saved-view-suite.ts';
import { storedListSuite } from './stored-list-suite.ts';
import { taskSuite } from './task-suite.ts';
import { usageSuite } from './usage-suite.ts';
import { teamSuite } from './team-suite.ts';
import type { StoreUnderTest } from './store-under-test.ts';

/** The contract of a store: a suite for each subject. */
const subjects: Readonly<Record<string, (open: () => Promise<StoreUnderTest>) => void>> = {
  accounts: accountsSuite,
  keys: keySuite,
  'teams and tags of keys': teamSuite,
  alerts: alertSuite,
  'audit log': auditSuite,
  'sinks of the audit log': auditSinkSuite,
  'recorded content': contentSuite,
  'refused requests': refusalSuite,
  people: peopleSuite,
  'sessions of keys and tokens': keySessionSuite,
  'sign-ins of other machines': deviceSignInSuite,
  'keys of the playground': playgroundKeySuite,
  ledger: ledgerSuite,
  'archives of calls': archiveSuite,
  'rows that are priced again': pricedRowSuite,
  'facts about calls': callFactsSuite,
  'questions about usage': usageSuite,
  credits: creditSuite,
  'credits of teams and the organization': groupCreditSuite,
  statistics: statisticsSuite,
  'statistics over days': statisticsDaysSuite,
  answers: answerReadingSuite,
  'state of gateways and orders to them': controlSuite,
  'layers of the configuration': configLayerSuite,
  'long operations': operationSuite,
  'price books': priceBookSuite,
  'reasoning proofs': proofSuite,
  conversations: conversationSuite,
  'files and their index': fileSearchSuite,
  reconciliations: reconciliationSuite,
  'saved views': savedViewSuite,
  'lists of stored objects': storedListSuite,
  'idempotency keys': idempotencySuite,
  'video tasks and callbacks': taskSuite,
  'images with links': imageSuite,
};

/**
 * Those that several gateways write at the same time: they depend most on how an engine orders transactions. Rows that
 * are priced again are read as each driver returns them.
 */
const written = new Set([
  'keys',
  'ledger',
  'rows that are priced again',
  'credits',
  'credits of teams and the organization',
  'idempotency keys',
  'video tasks and callbacks',
]);

/**
 * Runs the contract of a store, which every engine keeps. The interfaces in src/accounts and src/billing describe it.
 * @param chosen all subjects by default; for a second engine those that several gateways write, or the others
 */
export function runStoreSuite(name: string, open: () => Promise<StoreUnderTest>, chosen: 'all' | 'written' | 'others' = 'all'): void {
  describe(`store: ${name}`, () => {
    for (const [subject, suite] of Object.entries(subjects))
      if (chosen === 'all' || written.has(subject) === (chosen === 'written')) describe(subject, () => suite(open));
  });
}

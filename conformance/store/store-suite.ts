import { describe } from 'node:test';

import { accountsSuite } from './accounts-suite.ts';
import { alertSuite } from './alert-suite.ts';
import { auditSinkSuite } from './audit-sink-suite.ts';
import { auditSuite } from './audit-suite.ts';
import { callFactsSuite } from './call-facts-suite.ts';
import { contentSuite } from './content-suite.ts';
import { controlSuite } from './control-suite.ts';
import { conversationSuite } from './conversation-suite.ts';
import { creditSuite } from './credit-suite.ts';
import { groupCreditSuite } from './group-credit-suite.ts';
import { deviceSignInSuite } from './device-sign-in-suite.ts';
import { fileSearchSuite } from './file-search-suite.ts';
import { idempotencySuite } from './idempotency-suite.ts';
import { keySuite } from './key-suite.ts';
import { ledgerSuite } from './ledger-suite.ts';
import { imageSuite } from './image-suite.ts';
import { peopleSuite } from './people-suite.ts';
import { priceBookSuite } from './price-book-suite.ts';
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

/** The contract of a store, run by every engine. The interfaces in src/accounts and src/billing describe it. */
export function runStoreSuite(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`store: ${name}`, () => {
    describe('accounts', () => accountsSuite(open));
    describe('keys', () => keySuite(open));
    describe('teams and tags of keys', () => teamSuite(open));
    describe('alerts', () => alertSuite(open));
    describe('audit log', () => auditSuite(open));
    describe('sinks of the audit log', () => auditSinkSuite(open));
    describe('recorded content', () => contentSuite(open));
    describe('refused requests', () => refusalSuite(open));
    describe('people', () => peopleSuite(open));
    describe('sign-ins of other machines', () => deviceSignInSuite(open));
    describe('ledger', () => ledgerSuite(open));
    describe('facts about calls', () => callFactsSuite(open));
    describe('questions about usage', () => usageSuite(open));
    describe('credits', () => creditSuite(open));
    describe('credits of teams and the organization', () => groupCreditSuite(open));
    describe('statistics', () => statisticsSuite(open));
    describe('statistics over days', () => statisticsDaysSuite(open));
    describe('answers', () => answerReadingSuite(open));
    describe('state of gateways and orders to them', () => controlSuite(open));
    describe('long operations', () => operationSuite(open));
    describe('price books', () => priceBookSuite(open));
    describe('reasoning proofs', () => proofSuite(open));
    describe('conversations', () => conversationSuite(open));
    describe('files and their index', () => fileSearchSuite(open));
    describe('reconciliations', () => reconciliationSuite(open));
    describe('saved views', () => savedViewSuite(open));
    describe('lists of stored objects', () => storedListSuite(open));
    describe('idempotency keys', () => idempotencySuite(open));
    describe('video tasks and callbacks', () => taskSuite(open));
    describe('images with links', () => imageSuite(open));
  });
}

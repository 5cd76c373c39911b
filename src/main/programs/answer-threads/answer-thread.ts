import { parentPort, workerData } from 'node:worker_threads';

import { createAnswers } from '../../../monitor/answers/create-answers.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createAnswerReader, snapshotMsMax } from '../../../store/reading/answer-reader.ts';
import { openPostgresSnapshots } from '../../../store/postgres/postgres-snapshots.ts';
import { openSqliteSnapshots } from '../../../store/sqlite/sqlite-snapshots.ts';
import type { AnswerThreadData } from './open-answer-threads.ts';
import { serveAnswers } from './serve-answers.ts';

/**
 * A thread that reads and writes answers of the monitor, so that they do not block the event loop that carries streams,
 * and do not wait for each other.
 */
if (parentPort === null) throw new Error('Answers are made only in a worker thread.');

const { database, ...options } = workerData as AnswerThreadData;
const source = 'path' in database ? openSqliteSnapshots(database) : openPostgresSnapshots(database);
// The server ends transactions that are idle for the time that a statement may take.
const snapshotMs = 'path' in database ? snapshotMsMax : Math.min(snapshotMsMax, database.statementTimeoutMs / 2);
const answers = createAnswers({ ...options, reader: createAnswerReader(source, snapshotMs), clock: systemClock });
serveAnswers(parentPort, answers, source.close);

import { type BookVerification, problemsKept, verificationsKept, type VerificationStore } from '../../billing/credits/book-verification.ts';
import type { BookProblem } from '../../billing/credits/credit-books.ts';
import { toStorableText } from '../storable-text.ts';
import type { Database } from './database.ts';
import { readInteger, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const columns = 'id, author, started_at_ms, ended_at_ms, checked, problem_count, problems';

/** The SQL of verifications of the books. */
export function createVerificationOperations(database: Database): VerificationStore {
  return {
    keepVerification: ({ id, author, startedAtMs, endedAtMs, checked, problemCount, problems }) =>
      database.transact(async (transaction) => {
        const sql = `insert into book_verifications (${columns}) values (?, ?, ?, ?, ?, ?, ?)
          on conflict (id) do update set author = excluded.author, started_at_ms = excluded.started_at_ms,
            ended_at_ms = excluded.ended_at_ms, checked = excluded.checked, problem_count = excluded.problem_count,
            problems = excluded.problems`;
        const times = [Math.floor(startedAtMs), Math.floor(endedAtMs)] as const;
        const found = JSON.stringify(problems.slice(0, problemsKept));
        await transaction.run(sql, id, toStorableText(author), ...times, checked, problemCount, found);
        await transaction.run('delete from book_verifications where ended_at_ms < ?', times[1] - verificationsKept.ms);
        const oldest = await transaction.first(
          'select ended_at_ms from book_verifications order by ended_at_ms desc, id desc limit 1 offset ?',
          verificationsKept.rows,
        );
        if (oldest !== undefined)
          await transaction.run('delete from book_verifications where ended_at_ms <= ?', readInteger(oldest, 'ended_at_ms'));
      }, 'read-committed'),
    listVerifications: async ({ after, limit }) => {
      const where = after === undefined ? '' : 'where (ended_at_ms, id) < (?, ?)';
      const sql = `select ${columns} from book_verifications ${where} order by ended_at_ms desc, id desc limit ?`;
      return (await database.all(sql, ...(after === undefined ? [] : [after.endedAtMs, after.id]), limit)).map(decode);
    },
  };
}

function decode(row: SqlRow): BookVerification {
  return {
    id: readText(row, 'id'),
    author: readText(row, 'author'),
    startedAtMs: readInteger(row, 'started_at_ms'),
    endedAtMs: readInteger(row, 'ended_at_ms'),
    checked: readInteger(row, 'checked'),
    problemCount: readInteger(row, 'problem_count'),
    problems: JSON.parse(readText(row, 'problems')) as readonly BookProblem[],
  };
}

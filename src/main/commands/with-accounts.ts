import type { Store } from '../../store/store.ts';
import type { Environment } from '../environment.ts';

// What opens a store is loaded when one is opened: a command on a console needs none.

/** Opens the store of the data directory for one command, and always closes it. */
export async function withStore<Result>(environment: Environment, use: (store: Store) => Promise<Result>): Promise<Result> {
  const { ensureDataDirectory, openDatabase } = await import('../assembly/open-data-directory.ts');
  ensureDataDirectory(environment.dataDirectory);
  const store = await openDatabase(environment);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Opens the store for a command that only reads. It needs the rights of a monitor, and works while a gateway runs. */
export async function readStore<Result>(environment: Environment, use: (store: Store) => Promise<Result>): Promise<Result> {
  const { openDatabase } = await import('../assembly/open-data-directory.ts');
  const store = await openDatabase(environment, { readOnly: true });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** The same for a command that reads rows of calls, which may be in archives. */
export async function readCalls<Result>(environment: Environment, use: (store: Store) => Promise<Result>): Promise<Result> {
  const { withArchivedCalls } = await import('../assembly/run-archiving.ts');
  return await readStore(environment, (store) => use(withArchivedCalls({ environment, store })));
}

/** Prints rows in aligned columns. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  for (const line of alignColumns([header, ...rows])) console.log(line);
}

/** Writes rows as lines with aligned columns. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

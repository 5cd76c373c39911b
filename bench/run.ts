// `npm run bench` measures calls and books, `npm run bench -- console` the console; each writes its part of
// docs/reference/benchmarks.md. `npm run bench -- watchers` measures what open consoles cost, and
// `npm run bench -- --work TEXT` some kinds of calls only.
if (process.argv[2] === 'console') await import('./console/measure-console.ts');
else if (process.argv[2] === 'watchers') await import('./console/measure-watchers.ts');
else {
  await import('./calls.ts');
  if (!process.argv.includes('--work')) await import('./books.ts');
}

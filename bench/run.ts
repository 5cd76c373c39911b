// `npm run bench` measures calls and books, `npm run bench -- console` the console; each writes its part of
// docs/reference/benchmarks.md. `npm run bench -- --work TEXT` measures some kinds of calls only.
if (process.argv[2] === 'console') await import('./console/measure-console.ts');
else {
  await import('./calls.ts');
  if (!process.argv.includes('--work')) await import('./books.ts');
}

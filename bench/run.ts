// `npm run bench` measures calls, `npm run bench -- console` the console; each writes its part of
// docs/reference/benchmarks.md.
if (process.argv[2] === 'console') await import('./console/measure-console.ts');
else await import('./calls.ts');

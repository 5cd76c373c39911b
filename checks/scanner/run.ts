import { writeFileSync } from 'node:fs';
import { compileScanner, scannerFile } from './compile-scanner.ts';

// Writes the scanner of JSON texts: `npm run scanner`.
writeFileSync(scannerFile, compileScanner());

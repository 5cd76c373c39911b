import { rolesSuite } from './roles-suite.ts';

rolesSuite('sqlite', false);

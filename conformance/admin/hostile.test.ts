import { hostileSuite } from './hostile-suite.ts';

hostileSuite('sqlite', false);

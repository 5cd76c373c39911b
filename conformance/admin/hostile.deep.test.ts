import { skipPostgres } from '../support/start-postgres.ts';
import { hostileSuite } from './hostile-suite.ts';

hostileSuite('postgres', skipPostgres);

import { skipPostgres } from '../support/start-postgres.ts';
import { rolesSuite } from './roles-suite.ts';

rolesSuite('postgres', skipPostgres);

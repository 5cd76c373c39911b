import '../support/deep.ts';
import './postgres.test.ts';

import '../support/deep.ts';
import './states.test.ts';
